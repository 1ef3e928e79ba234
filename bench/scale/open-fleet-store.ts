import { join } from 'node:path'
import type { StorePlace } from '../../packages/server/src/store/open-store.ts'
import { startPostgres } from '../../packages/server/test/postgres.ts'
import { pagesBetween, readWal } from './watch-process.ts'

export const stores = ['sqlite', 'postgres'] as const
export type StoreKind = (typeof stores)[number]

/** Where the server of a fleet has its state, and how much is written there. */
export interface FleetStore {
  readonly place: StorePlace
  /** The variables for the server. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Begins to count. The returned function answers what was written since: pages of SQLite's log, or rows of
   * PostgreSQL without those of leases.
   */
  count(): Promise<() => Promise<number>>
}

/** The store in `home`, or a private PostgreSQL that `opened` owns. */
export async function openFleetStore(
  kind: StoreKind,
  home: string,
  opened: AsyncDisposableStack,
): Promise<FleetStore> {
  if (kind === 'sqlite') {
    const file = join(home, 'store.db')
    const count = async () => {
      const before = readWal(`${file}-wal`)
      return async () => pagesBetween(before, readWal(`${file}-wal`))
    }
    return { place: file, env: {}, count }
  }
  const postgres = opened.use(await startPostgres())
  const address = await postgres.makeDatabase()
  const { host, database, user } = address
  const written = async () => {
    const [row] = await postgres.run(rowsWritten, database)
    return Number(row?.['rows'] ?? 0)
  }
  const count = async () => {
    const before = await written()
    return async () => (await written()) - before
  }
  return {
    place: { address, passwordFile: null },
    env: { FAIRLEAD_STORE: `postgres://${user}@localhost/${database}?host=${host}` },
    count,
  }
}

/**
 * Leases are renewed all the time, at a cost that does not depend on the number of databases; `counters` has
 * the marks of their transactions.
 */
const rowsWritten = `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) as rows from pg_stat_user_tables
  where relname not in ('buckets', 'servers', 'counters')`
