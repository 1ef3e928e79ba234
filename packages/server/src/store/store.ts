import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** What a store's functions run on: the database, or a transaction of it. */
export type Db = Kysely<Tables>

/** The state of the control plane: a file, or a PostgreSQL database. Disposed of, it closes what it has opened. */
export interface Store extends AsyncDisposable {
  readonly db: Db
  /** The same, over connections of its own where the store is shared: leases are renewed however many requests wait for `db`. */
  readonly dbOfLeases: Db
  /** Other servers may use it at the same time. */
  readonly isShared: boolean
  /** Runs `work` whole or not at all. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>
  /**
   * A number that rises with every row that is written. Undefined: other servers may write, too, so it is not
   * known.
   */
  changes(): number | undefined
  /** Rewrites the file, without deleted and overwritten data. */
  rewrite(): Promise<void>
}
