import { type Management, type Permission, permissions } from '@fairlead/api'

/** What one role gives its holder. */
export interface Grant {
  readonly management: Management
  /** The only databases it is good for; null: all. */
  readonly databases: readonly number[] | null
}

/** Who is signed in, and what their roles give. */
export interface Principal {
  readonly uid: number
  readonly name: string
  readonly grants: readonly Grant[]
}

/** Whoever sends a request. */
export interface Visitor {
  /** Network address. */
  readonly address: string
  /** The rest of the connection: the visitor's port, and where it ends. */
  readonly peer?: Peer
}

/** The TCP connection of a local caller, by which the kernel tells whose process it is. */
export interface Peer {
  readonly port: number
  readonly toAddress: string
  readonly toPort: number
}

/** A visitor who is signed in. */
export interface Caller extends Visitor {
  readonly user: Principal
  /** The token the request came with; null: a password. */
  readonly token: {
    readonly id: string
    readonly expiresAtMs: number
    readonly signedInMs: number
  } | null
}

/** Who did something, as it is written down. Without a uid: Fairlead itself, or whoever runs its machine. */
export interface Actor {
  readonly uid: number | null
  readonly name: string
  readonly address: string | null
}

/** The caller as the audit names it. */
export function actorOf({ user, address }: Caller): Actor {
  return { uid: user.uid, name: user.name, address }
}

/** Where the caller's request came from, without who the caller is. */
export function visitorOf({ address, peer }: Caller): Visitor {
  return peer === undefined ? { address } : { address, peer }
}

/**
 * Whether a caller may set a password of its own without saying the old one: the request came with it (Basic), or an admin asks, to
 * whom it would be no obstacle. Otherwise a stolen token would become a stolen account.
 */
export function mayDoWithout({ user, token }: Caller): boolean {
  return token === null || isAdmin(user)
}

/**
 * Says whether this user may do this: to database `databaseUid`, or at all. A role that is limited to some databases
 * counts for those; where none is named it lets its holder look, and who answers leaves out the others.
 */
export function may(user: Principal, permission: Permission, databaseUid?: number): boolean {
  return user.grants.some(
    ({ management, databases }) =>
      permissions[permission].includes(management) &&
      (databases === null || reaches(databases, permission, databaseUid)),
  )
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
