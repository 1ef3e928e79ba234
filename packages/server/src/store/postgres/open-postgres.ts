import {
  CompiledQuery,
  type Dialect,
  type Driver,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely'
import pg from 'pg'
import { migrate } from '../migrate.ts'
import { patientReads } from '../patient-reads.ts'
import { patientTransactions } from '../patient-transactions.ts'
import { sealedColumns } from '../sealed-columns.ts'
import type { SecretBox } from '../secret-box.ts'
import { storable } from '../storable.ts'
import type { Store } from '../store.ts'
import type { Tables } from '../tables.ts'
import { type OnStatement, watchStatements } from '../watch-statements.ts'
import { accessOf, type PostgresPlace } from './postgres-access.ts'
import { asTrouble, StoreAway } from './postgres-trouble.ts'
import { connectProven, isOpenToAll, ProvingClient } from './prove-postgres.ts'

const MOST_CONNECTIONS = 10
/** One for the search, others for renewals that PostgreSQL may have lost. */
const MOST_CONNECTIONS_OF_LEASES = 4
const CONNECT_MS = 5_000
const STATEMENT_MS = 10_000
/** Longer than PostgreSQL's deadline, whose error is more precise. */
const ANSWER_MS = STATEMENT_MS + 2_000
/** A server stopped within a transaction must not block others. */
const IDLE_IN_TRANSACTION_MS = 10_000

/**
 * Opens the store in a PostgreSQL database (15 or newer) whose user may create tables, and migrates its
 * schema.
 *
 * Serializes transactions like the embedded store, since writes depend on earlier reads. Throws StoreAway
 * while PostgreSQL is unreachable.
 */
export async function openPostgres(
  place: PostgresPlace,
  readBox: () => SecretBox,
  onStatement?: OnStatement,
): Promise<Store> {
  const options = {
    ...poolOptions(place),
    ...((await isOpenToAll(place.address)) && { Client: ProvingClient }),
  }
  const pool = openPool({ ...options, max: MOST_CONNECTIONS })
  const plugins = [sealedColumns(readBox())]
  const watched = { plugins, ...watchStatements(onStatement) }
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool), ...watched })
  try {
    await comeIn(pool)
    await migrate(db)
  } catch (cause) {
    await db.destroy()
    throw explain(cause, place)
  }
  const transactions = patientTransactions(db)
  const poolOfLeases = openPool({ ...options, max: MOST_CONNECTIONS_OF_LEASES })
  const dbOfLeases = new Kysely<Tables>({ dialect: postgresDialect(poolOfLeases), ...watched })
  return {
    db,
    dbOfLeases,
    isShared: true,
    changes: () => undefined,
    async rewrite() {
      // PostgreSQL keeps overwritten data until then, and longer in its write-ahead log.
      for (const table of ['databases', 'shards', 'actions']) await pool.query(`vacuum full ${table}`)
    },
    transaction: (work) => transactions.run(work),
    async [Symbol.asyncDispose]() {
      await transactions[Symbol.asyncDispose]()
      await Promise.all([db.destroy(), dbOfLeases.destroy()])
    },
  }
}

/** Opens no connection yet. */
function openPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options)
  // The running statement gets the error, too, and the next one uses another connection.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** Fails immediately; later connections are retried. */
async function comeIn(pool: pg.Pool): Promise<void> {
  const client = await connectProven(pool).catch((cause: unknown) => {
    throw asTrouble(cause)
  })
  client.release()
}

function poolOptions(place: PostgresPlace): pg.PoolConfig {
  const { host, port, database, user } = place.address
  return {
    host,
    port,
    database,
    user,
    ...accessOf(place),
    application_name: 'fairlead',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    types: { getTypeParser },
  }
}

/** int8, the type of counts and sums, as a number: all of ours fit in 53 bits. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC) return Number
  return pg.types.getTypeParser(oid, format)
}

/**
 * At the start, PostgreSQL's login errors (wrong password, no such database) are not StoreAway: they need a
 * person, and name neither server nor variable.
 */
function explain(cause: unknown, { address }: PostgresPlace): unknown {
  const away = cause instanceof StoreAway ? cause : causeOf(cause)
  const own = away instanceof StoreAway && away.isRefusal ? away.cause : away
  if (!(own instanceof pg.DatabaseError)) return own
  const { user, host, port, database } = address
  const place = `${database} of PostgreSQL at ${host}:${port}`
  return new Error(`FAIRLEAD_STORE: ${user} cannot use the database ${place}: ${own.message}`, { cause })
}

/** The cause of a failed migration. */
function causeOf(cause: unknown): unknown {
  const inner = cause instanceof Error ? cause.cause : undefined
  return inner instanceof StoreAway || inner instanceof pg.DatabaseError ? inner : cause
}

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
function postgresDialect(pool: pg.Pool): Dialect {
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
