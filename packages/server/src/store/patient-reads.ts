import { setTimeout as delay } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, Driver } from 'kysely'
import { StoreAway } from './postgres/postgres-trouble.ts'

/** Time for a restart of PostgreSQL. Then the caller gets an error. */
export const PATIENCE_MS = 5_000
/** Time between attempts. */
export const AGAIN_AFTER_MS = 100

/**
 * Wraps `driver` to retry during short outages before anything is written: before a transaction, and in reads
 * outside of one.
 */
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

/** A connection, or its replacement after it was cut. */
interface Reader extends DatabaseConnection {
  connection(): DatabaseConnection
  /** Keeps the connection from now on, since it has a transaction. */
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
