import { Kysely } from 'kysely'
import pg from 'pg'
import { migrate } from '../migrate.ts'
import { patientTransactions } from '../patient-transactions.ts'
import { sealedColumns } from '../sealed-columns.ts'
import type { SecretBox } from '../secret-box.ts'
import type { Store } from '../store.ts'
import type { Tables } from '../tables.ts'
import { type OnStatement, watchStatements } from '../watch-statements.ts'
import { accessOf, type PostgresPlace } from './postgres-access.ts'
import { postgresDialect } from './postgres-dialect.ts'
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
