import { type Permission, permissions } from '@fairlead/api'
import { databasesFor, type Principal } from './access.ts'

/** Permissions of a user, and their limits to some databases. */
export interface PermissionsHeld {
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
