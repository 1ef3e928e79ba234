import { setTimeout as delay } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, Driver } from 'kysely'
import { StoreAway } from './postgres/postgres-trouble.ts'

/** As long as PostgreSQL takes to restart. Then the caller is told. */
export const PATIENCE_MS = 5_000
/** How soon it is tried again. */
export const AGAIN_AFTER_MS = 100

/** `driver`, which outlasts a PostgreSQL that is away for a moment where nothing is written: in front of a transaction, and in reads outside of one. */
export function patientReads(driver: Driver): Driver {
  const readers = new WeakMap<DatabaseConnection, Reader>()
  const ofReader = (connection: DatabaseConnection) => readers.get(connection)?.connection() ?? connection
  return {
    init: () => driver.init(),
    async acquireConnection() {
      const reader = createReader(driver, await patiently(() => driver.acquireConnection()))
      readers.set(reader, reader)
      return reader
    },
    async beginTransaction(connection, settings) {
      readers.get(connection)?.stay()
      await driver.beginTransaction(ofReader(connection), settings)
    },
    commitTransaction: (connection) => driver.commitTransaction(ofReader(connection)),
    rollbackTransaction: (connection) => driver.rollbackTransaction(ofReader(connection)),
    releaseConnection: async (connection) => readers.get(connection)?.release(),
    destroy: () => driver.destroy(),
  }
}

/** A connection, or another one after it was cut. */
interface Reader extends DatabaseConnection {
  connection(): DatabaseConnection
  /** It stays the same from now on: a transaction is in it. */
  stay(): void
  release(): Promise<void>
}

function createReader(driver: Driver, first: DatabaseConnection): Reader {
  let one: DatabaseConnection | undefined = first
  let isStaying = false
  const release = async () => {
    const released = one
    one = undefined
    if (released !== undefined) await driver.releaseConnection(released)
  }
  const connection = () => one ?? first
  const isRead = ({ query }: CompiledQuery) => query.kind === 'SelectQueryNode' && !isStaying
  return {
    connection,
    release,
    stay() {
      isStaying = true
    },
    async executeQuery<R>(query: CompiledQuery) {
      if (!isRead(query)) return connection().executeQuery<R>(query)
      return patiently(async () => {
        one ??= await driver.acquireConnection()
        try {
          return await one.executeQuery<R>(query)
        } catch (cause) {
          if (cause instanceof StoreAway) await release()
          throw cause
        }
      })
    },
    streamQuery: () => {
      throw new Error('rows are not read one by one')
    },
  }
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof StoreAway) || performance.now() > until) throw cause
    }
    await delay(AGAIN_AFTER_MS)
  }
}
