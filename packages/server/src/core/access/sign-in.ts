/** A role of the cluster whose users sign in to a database, and the rule for what they may do there. */
export interface RolePermission {
  readonly roleUid: number
  readonly aclUid: number
}

/** How users sign in to a database: part of its record. */
export interface SignIn {
  /** If its own user `default` may. */
  readonly defaultUser: boolean
  readonly rolesPermissions: readonly RolePermission[]
}

/** A user of the cluster, as it signs in to a database by its roles. */
export interface DatabaseUser {
  readonly name: string
  /** SHA-256 of all passwords (hex), as engines have them. */
  readonly digests: readonly string[]
  /** Rules of all roles, in the engines' words: what one of them allows is allowed. */
  readonly rules: readonly string[]
}
