import {
  CompiledQuery,
  type Dialect,
  type Driver,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely'
import type pg from 'pg'
import { patientReads } from '../patient-reads.ts'
import { storable } from '../storable.ts'
import { asTrouble, StoreAway } from './postgres-trouble.ts'
import { connectProven } from './prove-postgres.ts'

/** Lock number for transactions of all servers: arbitrary, and unlikely to be used by others. */
const WRITING = 4_620_710_326_847

/**
 * Waits for the lock. Ensures that an answered commit is on disk, whatever the settings of database or user;
 * keeps a setting that waits for replicas.
 */
const takeTurn = `select pg_advisory_xact_lock(${WRITING}), case current_setting('synchronous_commit')
  when 'off' then set_config('synchronous_commit', 'local', true) end`

/**
 * PostgreSQL for Kysely, with serialized transactions like the embedded store. Outages are StoreAway errors,
 * with a flag if a COMMIT was sent.
 */
export function postgresDialect(pool: pg.Pool): Dialect {
  const dialect = new PostgresDialect({ pool: watched(pool) })
  return {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createDriver: () => patientReads(serializeTransactions(dialect.createDriver())),
  }
}

/** Wraps `pool` to translate errors. A connection with an error is not used again. */
function watched(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await connectProven(pool).catch(rethrow)
      let trouble: StoreAway | undefined
      const query = async (sql: string, parameters: readonly unknown[]) => {
        // Nothing follows an unanswered statement: its transaction is rolled back with its connection.
        if (trouble !== undefined) throw trouble
        try {
          return await client.query(sql, storable(parameters))
        } catch (cause) {
          const known = asTrouble(cause)
          if (known instanceof StoreAway) trouble = known
          throw known
        }
      }
      return { query, release: () => client.release(trouble) } as unknown as PostgresPoolClient // no cursors
    },
  }
}

function rethrow(cause: unknown): never {
  throw asTrouble(cause)
}

function serializeTransactions(driver: Driver): Driver {
  return {
    init: () => driver.init(),
    acquireConnection: () => driver.acquireConnection(),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    async rollbackTransaction(connection) {
      try {
        await driver.rollbackTransaction(connection)
      } catch (cause) {
        // The connection's end rolls it back. The caller gets the first error.
        if (!(cause instanceof StoreAway)) throw cause
      }
    },
    destroy: () => driver.destroy(),
    async beginTransaction(connection, settings) {
      // Overrides the database's setting: a transaction must see the state after it got the lock.
      await driver.beginTransaction(connection, { ...settings, isolationLevel: 'read committed' })
      await connection.executeQuery(CompiledQuery.raw(takeTurn))
    },
    async commitTransaction(connection) {
      try {
        await driver.commitTransaction(connection)
      } catch (cause) {
        if (!(cause instanceof StoreAway)) throw cause
        throw new StoreAway(cause.message, cause.cause, true)
      }
    },
  }
}
