/** Who may sign in, and as what. */
export interface User {
  readonly uid: number
  readonly name: string
  readonly role: string
  /** PHC string. */
  readonly passwordHash: string
}
