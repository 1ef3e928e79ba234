/** A change of the catalogue, as people follow it: it had ended when it was written down. */
export interface ModuleAction {
  readonly uid: string
  readonly kind: 'upload' | 'delete'
  readonly moduleUid: string
  /** ISO 8601. */
  readonly createdAt: string
}
