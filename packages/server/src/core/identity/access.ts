import { type EventTopic, type Management, type Permission, permissions } from '@fairlead/api'

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

/** Permissions of a user, and their limits to some databases. */
interface PermissionsHeld {
  /** In alphabetical order. */
  readonly all: readonly Permission[]
  /** The others of `all` have no limit. */
  readonly limited: readonly {
    readonly databases: readonly number[]
    readonly permissions: readonly Permission[]
  }[]
}

/** Returns the combined permissions of a user's roles. Permissions for the same databases are one entry. */
export function permissionsHeld(user: Principal): PermissionsHeld {
  const names = (Object.keys(permissions) as Permission[]).toSorted() // the keys of the matrix
  const held = names.map((permission) => ({ permission, databases: databasesFor(user, permission) }))
  const all = held.filter(({ databases }) => databases === null || databases.length > 0)
  const limited = all.flatMap(({ permission, databases }) =>
    databases === null ? [] : [{ permission, databases: databases.toSorted((a, b) => a - b) }],
  )
  return {
    all: all.map(({ permission }) => permission),
    limited: [...Map.groupBy(limited, ({ databases }) => databases.join()).values()].map((same) => ({
      databases: same[0]?.databases ?? [],
      permissions: same.map(({ permission }) => permission),
    })),
  }
}

const permissionOf: Readonly<Record<EventTopic, Permission>> = {
  actions: 'view_status_of_cluster_action',
  databases: 'view_all_bdbs_info',
  nodes: 'view_all_nodes_info',
  audit: 'view_logged_events',
}

/**
 * True if a user may see events of this topic at all, or those of one database. `databaseUid` null: of none,
 * which requires a user without limits.
 */
export function mayWatch(user: Principal, topic: EventTopic, databaseUid?: number | null): boolean {
  // Nodes concern all users: their events contain nothing that a limited user may not see.
  if (databaseUid === undefined || topic === 'nodes') return may(user, permissionOf[topic])
  return may(user, permissionOf[topic], databaseUid ?? NO_DATABASE)
}

const NO_DATABASE = 0
