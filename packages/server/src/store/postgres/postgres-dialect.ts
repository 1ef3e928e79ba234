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

/** Of the lock that transactions take, of all servers. Any number that others are unlikely to take. */
const WRITING = 4_620_710_326_847

/**
 * A transaction takes its turn. A commit that is answered is on disk, whatever else the database, or its user, is set to; what waits for replicas is
 * left as it is.
 */
const takeTurn = `select pg_advisory_xact_lock(${WRITING}), case current_setting('synchronous_commit')
  when 'off' then set_config('synchronous_commit', 'local', true) end`

/**
 * PostgreSQL for Kysely, like an embedded store in one way: transactions come one after the other. An error that prevents one is a StoreAway,
 * which says whether a COMMIT was sent.
 */
export function postgresDialect(pool: pg.Pool): Dialect {
  const dialect = new PostgresDialect({ pool: watched(pool) })
  return {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createDriver: () => patientReads(oneAfterTheOther(dialect.createDriver())),
  }
}

/** `pool`, whose errors say what they are. A connection that has had one is not used again. */
function watched(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await connectProven(pool).catch(rethrow)
      let trouble: StoreAway | undefined
      const query = async (sql: string, parameters: readonly unknown[]) => {
        // Nothing waits behind a statement that gets no answer: its transaction is rolled back with its connection.
        if (trouble !== undefined) throw trouble
        try {
          return await client.query(sql, storable(parameters))
        } catch (cause) {
          const known = asTrouble(cause)
          if (known instanceof StoreAway) trouble = known
          throw known
        }
      }
      return { query, release: () => client.release(trouble) } as unknown as PostgresPoolClient // without cursors, of which there are none
    },
  }
}

function rethrow(cause: unknown): never {
  throw asTrouble(cause)
}

function oneAfterTheOther(driver: Driver): Driver {
  return {
    init: () => driver.init(),
    acquireConnection: () => driver.acquireConnection(),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    async rollbackTransaction(connection) {
      try {
        await driver.rollbackTransaction(connection)
      } catch (cause) {
        // It is rolled back with its connection. The caller gets the first error.
        if (!(cause instanceof StoreAway)) throw cause
      }
    },
    destroy: () => driver.destroy(),
    async beginTransaction(connection, settings) {
      // Whatever the database is set to: what a transaction reads is what there is once it has its turn, and not before.
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
