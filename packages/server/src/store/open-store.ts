import { openEmbedded } from './open-embedded.ts'
import { openPostgres } from './postgres/open-postgres.ts'
import type { PostgresPlace } from './postgres/postgres-access.ts'
import type { SecretBox } from './secret-box.ts'
import type { Db as DbOfStore, Store as OpenedStore } from './store.ts'
import type { OnStatement } from './watch-statements.ts'

/** See store.ts. */
export type Db = DbOfStore
/** See store.ts. */
export type Store = OpenedStore

/** Where the state of the control plane is: the path of a file (`:memory:` for none), or a PostgreSQL database. */
export type StorePlace = string | PostgresPlace

/**
 * Opens the store in `place` and brings its schema up to date. Secrets of databases are sealed in it with what `readBox` gives, once the
 * store is ours; a file that is not told one takes the key in store.key beside it.
 *
 * Throws when another server has the file, when a newer Fairlead wrote the store, or when PostgreSQL does not let us in.
 */
export function openStore(place: string, readBox?: () => SecretBox): Promise<Store>
export function openStore(
  place: StorePlace,
  readBox: () => SecretBox,
  onStatement?: OnStatement,
): Promise<Store>
export function openStore(
  place: StorePlace,
  readBox?: () => SecretBox,
  onStatement?: OnStatement,
): Promise<Store> {
  if (typeof place === 'string') return openEmbedded(place, readBox, onStatement)
  if (readBox === undefined) throw new Error('a store in PostgreSQL needs a key')
  return openPostgres(place, readBox, onStatement)
}
