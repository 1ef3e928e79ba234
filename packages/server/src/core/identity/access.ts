import { type Management, type Permission, permissions } from '@fairlead/api'

/** The rights that one role gives to its holder. */
export interface Grant {
  readonly management: Management
  /** The databases that the role is limited to; null: all. */
  readonly databases: readonly number[] | null
}

/** The signed-in user, and the rights that its roles give. */
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
  /** The token or the session that the request came with; null: a password. */
  readonly token: {
    readonly id: string
    readonly expiresAtMs: number
    readonly signedInMs: number
    /** It is the session of a browser, whose pages never see it. */
    readonly isSession?: true
  } | null
}

/**
 * The user who did something, as the audit records it. Without a uid: Fairlead itself, or the operator of its
 * machine.
 */
export interface Actor {
  readonly uid: number | null
  readonly name: string
  readonly address: string | null
}

/** The operator of the machine, with the token that the socket in FAIRLEAD_HOME gives. No user of the cluster has this uid. */
export const operatorPrincipal: Principal = {
  uid: 0,
  name: 'operator',
  grants: [{ management: 'admin', databases: null }],
}

/** The caller as the audit names it. The operator is no user of the cluster. */
export function actorOf({ user, address }: Caller): Actor {
  return { uid: user.uid === operatorPrincipal.uid ? null : user.uid, name: user.name, address }
}

/**
 * Whether a caller may set a password of its own without the old one: the request was authenticated with it
 * (Basic), or the caller is an admin, which this would not stop. Otherwise a stolen token would become a
 * stolen account.
 */
export function mayDoWithout({ user, token }: Caller): boolean {
  return token === null || isAdmin(user)
}

/**
 * Whether this user has a permission: for database `databaseUid`, or for anything. A role that is limited to some
 * databases counts for those. Without `databaseUid` such a role permits only reading; the answer must then leave out the
 * other databases.
 */
export function may(user: Principal, permission: Permission, databaseUid?: number): boolean {
  return user.grants.some(
    ({ management, databases }) =>
      permissions[permission].includes(management) &&
      (databases === null || reaches(databases, permission, databaseUid)),
  )
}

/** For which databases `may` says yes: all (null), or those. */
export function databasesFor(user: Principal, permission: Permission): readonly number[] | null {
  const grants = user.grants.filter(({ management }) => permissions[permission].includes(management))
  if (grants.some(({ databases }) => databases === null)) return null
  return [...new Set(grants.flatMap(({ databases }) => databases ?? []))]
}

/** Whether one of the roles has the management `admin`. */
export function isAdmin({ grants }: Pick<Principal, 'grants'>): boolean {
  return grants.some(({ management }) => management === 'admin')
}

/** Managements that a role may limit to some databases. */
export function isLimitable(management: Management): boolean {
  return management === 'db_member' || management === 'db_viewer'
}

function reaches(databases: readonly number[], permission: Permission, databaseUid?: number): boolean {
  return databaseUid === undefined ? permission.startsWith('view_') : databases.includes(databaseUid)
}
