import { join } from 'node:path'
import type { PostgresAddress } from '../core/state/read-postgres-address.ts'
import type { StorePlace } from './open-store.ts'

/** Settings of the store. */
export interface StoreSettings {
  readonly store: PostgresAddress | undefined
  readonly storePasswordFile: string | null
}

/** The place of a cluster's state. `folder` is the server's folder of this home (sockets.ts). */
export function storePlace({ store, storePasswordFile }: StoreSettings, folder: string): StorePlace {
  return store === undefined ? join(folder, 'store.db') : { address: store, passwordFile: storePasswordFile }
}
