import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { rootCertificates } from 'node:tls'
import { Kysely } from 'kysely'
import pg from 'pg'
import type { PostgresAddress } from '../core/state/read-postgres-address.ts'
import { migrate } from './migrate.ts'
import { patientTransactions } from './patient-transactions.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { StoreAway } from './postgres-trouble.ts'
import { isOpenToAll, ProvingClient } from './prove-postgres.ts'
import { sealedColumns } from './sealed-columns.ts'
import type { SecretBox } from './secret-box.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'

/** A PostgreSQL database, and how it lets us in. */
export interface PostgresPlace {
  readonly address: PostgresAddress
  /** A file, read anew for each connection, so that the password can be changed without a restart; null: none is given. */
  readonly passwordFile: string | null
}

const MOST_CONNECTIONS = 10
const CONNECT_MS = 5_000
const STATEMENT_MS = 10_000
/** Longer than PostgreSQL's own deadline: its answer says more. */
const ANSWER_MS = STATEMENT_MS + 2_000
/** A server that is stopped within a transaction does not keep others from theirs. */
const IDLE_IN_TRANSACTION_MS = 10_000

/**
 * Opens the store in a PostgreSQL database (15 or newer) in which the user may make tables, and brings its schema up to date.
 *
 * Transactions come one after the other, as on the embedded store: what is written in them was decided upon what they read. Throws StoreAway
 * while PostgreSQL is not there.
 */
export async function openPostgres(place: PostgresPlace, readBox: () => SecretBox): Promise<Store> {
  if (place.passwordFile !== null) await readFile(place.passwordFile)
  const pool = new pg.Pool({
    ...poolOptions(place),
    ...((await isOpenToAll(place.address)) && { Client: ProvingClient }),
  })
  // The statement that runs is told, too, and the next takes another connection.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool), plugins: [sealedColumns(readBox())] })
  try {
    await migrate(db)
  } catch (cause) {
    await db.destroy()
    throw explain(cause, place)
  }
  const transactions = patientTransactions(db)
  return {
    db,
    isShared: true,
    changes: () => undefined,
    async rewrite() {
      // PostgreSQL keeps what was overwritten until then, and in its write-ahead log for longer.
      for (const table of ['databases', 'shards', 'actions']) await pool.query(`vacuum full ${table}`)
    },
    transaction: (work) => transactions.run(work),
    async [Symbol.asyncDispose]() {
      await transactions[Symbol.asyncDispose]()
      await db.destroy()
    },
  }
}

function poolOptions({ address, passwordFile }: PostgresPlace): pg.PoolConfig {
  const { host, port, database, user, tls } = address
  return {
    ...{ host, port, database, user },
    ...(passwordFile !== null && { password: async () => (await readFile(passwordFile, 'utf8')).trim() }),
    ssl: tls !== null && {
      ca: tls.rootCertificate === null ? [...rootCertificates] : readFileSync(tls.rootCertificate),
      minVersion: 'TLSv1.2',
    },
    application_name: 'fairlead',
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    types: { getTypeParser },
  }
}

/** int8, which counts and sums are, as a number: none of ours has more than 53 bits. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC) return Number
  return pg.types.getTypeParser(oid, format)
}

/** What PostgreSQL says on the way in (a wrong password, no such database) names neither the server nor the variable. */
function explain(cause: unknown, { address }: PostgresPlace): unknown {
  const own = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  if (own instanceof StoreAway) return own
  if (!(own instanceof pg.DatabaseError)) return cause
  const { user, host, port, database } = address
  const place = `${database} of PostgreSQL at ${host}:${port}`
  return new Error(`FAIRLEAD_STORE: ${user} cannot use the database ${place}: ${own.message}`, { cause })
}
