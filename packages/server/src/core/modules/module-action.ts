/** A change of the catalogue as shown to people; recorded when it has ended. */
export interface ModuleAction {
  readonly uid: string
  readonly kind: 'upload' | 'delete'
  readonly moduleUid: string
  /** ISO 8601. */
  readonly createdAt: string
}
