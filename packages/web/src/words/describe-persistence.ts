import { type Database, type Persistence, persistenceWords, safeDefaults } from '@fairlead/api'
import { plural } from './format.ts'

type Kept = Pick<Database, 'data_persistence' | 'aof_policy'>

/** Choices of persistence, each with its losses in a power failure. */
export const persistences = [
  { value: 'appendfsync-every-sec', label: 'Append-only file, once a second' },
  { value: 'appendfsync-always', label: 'Append-only file, each write (slower)' },
  { value: 'snapshot', label: 'Snapshots (RDB)' },
  { value: 'disabled', label: 'None' },
] as const satisfies readonly { readonly value: Persistence; readonly label: string }[]

/** The choice of this name; without one, the safe one. */
export function persistenceIn(name: string): Persistence {
  return persistences.find((one) => one.value === name)?.value ?? safeDefaults.aof_policy
}

/** A choice as fields of the API. */
export function fieldsOf(way: Persistence): Partial<Kept> & Pick<Kept, 'data_persistence'> {
  return way === 'snapshot' || way === 'disabled'
    ? { data_persistence: way }
    : { data_persistence: 'aof', aof_policy: way }
}

/** The data on disk of a database, and the losses in a power failure. */
export function persistenceOf(database: Kept): string {
  return persistenceWords[wayOf(database)]
}

/** The choice that a database has. */
export function wayOf({ data_persistence: kind, aof_policy: policy }: Kept): Persistence {
  return kind === 'aof' ? policy : kind
}

/** The rules of snapshots; empty: none. */
export function rulesOf({
  data_persistence: kind,
  snapshot_policy: rules,
}: Pick<Database, 'data_persistence' | 'snapshot_policy'>): string {
  if (kind !== 'snapshot') return ''
  return rules
    .map(({ secs, writes }) => `after ${plural(writes, 'write')} in ${plural(secs, 'second')}`)
    .join(', or ')
}
