import { join } from 'node:path'
import type { PostgresAddress } from '../core/state/read-postgres-address.ts'
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

/** Place of the state: a file (`:memory:` for none), or a PostgreSQL database. */
export type StorePlace = string | PostgresPlace

/**
 * Opens the store in `place`, and migrates it. Seals databases' secrets with `readBox`, called once the store
 * is ours; default for a file: the key in store.key next to it.
 *
 * Throws if another server has the file, a newer Fairlead wrote it, or PostgreSQL refuses access.
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

/** Settings of the store. */
interface StoreSettings {
  readonly store: PostgresAddress | undefined
  readonly storePasswordFile: string | null
}

/** The place of a cluster's state. `folder` is the server's folder of this home (sockets.ts). */
export function storePlace({ store, storePasswordFile }: StoreSettings, folder: string): StorePlace {
  return store === undefined ? join(folder, 'store.db') : { address: store, passwordFile: storePasswordFile }
}
