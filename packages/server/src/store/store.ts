import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** The database, or a transaction of it. */
export type Db = Kysely<Tables>

/** The state of the control plane: a file, or a PostgreSQL database. Disposing closes it. */
export interface Store extends AsyncDisposable {
  readonly db: Db
  /** Separate connections on a shared store: leases are renewed even if many requests wait for `db`. */
  readonly dbOfLeases: Db
  /** Other servers may use it at the same time. */
  readonly isShared: boolean
  /** Runs `work` atomically. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>
  /** A number that rises with each written row. Undefined: unknown, because other servers may write. */
  changes(): number | undefined
  /** Rewrites the file without deleted and overwritten data. */
  rewrite(): Promise<void>
}
