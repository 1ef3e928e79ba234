import { type Management, type Permission, permissions } from '@fairlead/api'

/** Rights that one role gives to its holder. */
export interface Grant {
  readonly management: Management
  /** Databases that the role is limited to; null: all. */
  readonly databases: readonly number[] | null
}

/** The signed-in user, and the rights of its roles. */
export interface Principal {
  readonly uid: number
  readonly name: string
  readonly grants: readonly Grant[]
}

/** The sender of a request. */
export interface Requester {
  /** Network address. */
  readonly address: string
}

/** A requester that has signed in. */
export interface Caller extends Requester {
  readonly user: Principal
  /** Token or session of the request; null: a password. */
  readonly token: {
    readonly id: string
    readonly expiresAtMs: number
    readonly signedInMs: number
    /** Set for a browser session, which its pages never see. */
    readonly isSession?: true
  } | null
}

/** The author of an event in the audit. Without a uid: Fairlead itself, or the machine's operator. */
export interface Actor {
  readonly uid: number | null
  readonly name: string
  readonly address: string | null
}

/** The machine's operator, with the token from the socket in FAIRLEAD_HOME. No user has this uid. */
export const operatorPrincipal: Principal = {
  uid: 0,
  name: 'operator',
  grants: [{ management: 'admin', databases: null }],
}

/** Returns the caller for the audit. The operator is no user of the cluster. */
export function actorOf({ user, address }: Caller): Actor {
  return { uid: user.uid === operatorPrincipal.uid ? null : user.uid, name: user.name, address }
}

/**
 * True if a caller may set its password without the old one: the request was authenticated with it (Basic),
 * or the caller is an admin, with rights over all passwords. Otherwise a stolen token would become a stolen
 * account.
 */
export function mayDoWithout({ user, token }: Caller): boolean {
  return token === null || isAdmin(user)
}

/**
 * True if the user has a permission, for database `databaseUid` or at all. A role limited to some databases
 * counts for those. Without `databaseUid` such a role permits only reading, and the answer must exclude other
 * databases.
 */
export function may(user: Principal, permission: Permission, databaseUid?: number): boolean {
  return user.grants.some(
    ({ management, databases }) =>
      permissions[permission].includes(management) &&
      (databases === null || reaches(databases, permission, databaseUid)),
  )
}

/** Returns the databases for which `may` is true; null: all. */
export function databasesFor(user: Principal, permission: Permission): readonly number[] | null {
  const grants = user.grants.filter(({ management }) => permissions[permission].includes(management))
  if (grants.some(({ databases }) => databases === null)) return null
  return [...new Set(grants.flatMap(({ databases }) => databases ?? []))]
}

/** True if one of the roles has the management `admin`. */
export function isAdmin({ grants }: Pick<Principal, 'grants'>): boolean {
  return grants.some(({ management }) => management === 'admin')
}

/** True for managements that a role may limit to some databases. */
export function isLimitable(management: Management): boolean {
  return management === 'db_member' || management === 'db_viewer'
}

function reaches(databases: readonly number[], permission: Permission, databaseUid?: number): boolean {
  return databaseUid === undefined ? permission.startsWith('view_') : databases.includes(databaseUid)
}
