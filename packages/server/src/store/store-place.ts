import { join } from 'node:path'
import type { PostgresAddress } from '../core/state/read-postgres-address.ts'
import type { StorePlace } from './open-store.ts'

/** What a configuration says of the store. */
export interface StoreSettings {
  readonly store: PostgresAddress | undefined
  readonly storePasswordFile: string | null
}

/** Where the state of a cluster is. `folder`: where the server of this home keeps what it has (sockets.ts). */
export function storePlace({ store, storePasswordFile }: StoreSettings, folder: string): StorePlace {
  return store === undefined ? join(folder, 'store.db') : { address: store, passwordFile: storePasswordFile }
}
