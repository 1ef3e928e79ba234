import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { Kysely, SqliteDialect, type Transaction } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import * as init from './migrations/0001-init.ts'
import * as usersAndRoles from './migrations/0002-users-and-roles.ts'
import * as actionEvents from './migrations/0003-action-events.ts'
import * as groups from './migrations/0004-groups.ts'
import * as modules from './migrations/0005-modules.ts'
import * as endpoints from './migrations/0006-endpoints.ts'
import * as tls from './migrations/0007-tls.ts'
import * as historyOfProcess from './migrations/0008-history-of-process.ts'
import * as obstacles from './migrations/0009-obstacles.ts'
import * as shardTls from './migrations/0010-shard-tls.ts'
import * as loginLanes from './migrations/0011-login-lanes.ts'
import * as auditSegments from './migrations/0012-audit-segments.ts'
import * as limitBefore from './migrations/0013-limit-before.ts'
import * as holdReason from './migrations/0014-hold-reason.ts'
import * as historyBefore from './migrations/0015-history-before.ts'
import { rememberStatements } from './remember-statements.ts'
import { sealedColumns } from './sealed-columns.ts'
import { createSecretBox, readStoreKey, type SecretBox } from './secret-box.ts'
import type { Tables } from './tables.ts'

/** What a store's functions run on: the database, or a transaction of it. */
export type Db = Kysely<Tables>

/** The database file of the control plane. Disposed of, it closes the file. */
export interface Store extends AsyncDisposable {
  readonly db: Db
  /** Runs `work` whole or not at all. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>
  /** A number that rises with every row that is written. Undefined: others may write too, and nobody can tell. */
  changes(): number | undefined
  /** Writes the file anew, without what was deleted or overwritten in it. */
  rewrite(): void
}

/** Numbered, forward only. The name is the order. */
const migrations: Readonly<Record<string, Migration>> = {
  '0001-init': init,
  '0002-users-and-roles': usersAndRoles,
  '0004-groups': groups,
  '0003-action-events': actionEvents,
  '0005-modules': modules,
  '0006-endpoints': endpoints,
  '0007-tls': tls,
  '0008-history-of-process': historyOfProcess,
  '0009-obstacles': obstacles,
  '0010-shard-tls': shardTls,
  '0011-login-lanes': loginLanes,
  '0012-audit-segments': auditSegments,
  '0013-limit-before': limitBefore,
  '0014-hold-reason': holdReason,
  '0015-history-before': historyBefore,
}

/**
 * Opens the embedded store in `file`, made if it is not there, and brings its schema up to date.
 *
 * Secrets of databases are sealed in it with what `readBox` gives, once the file is ours; unless told, by the key in store.key beside it.
 *
 * The file is locked for the life of the process: there is one server on an embedded store, and the kernel lets the
 * lock go when it is killed. Every commit is on disk before it counts. Throws when another server holds the file, or
 * when a newer Fairlead wrote it.
 */
export async function openStore(
  file: string,
  readBox: () => SecretBox = () => boxBeside(file),
): Promise<Store> {
  if (file !== ':memory:') keepPrivate(file)
  const sqlite = new BetterSqlite(file, { timeout: 2_000 })
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE')
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = FULL')
    sqlite.pragma('foreign_keys = ON')
    sqlite.exec('begin immediate; commit')
  } catch (cause) {
    sqlite.close()
    throw explain(cause, file)
  }

  const box = readBoxOf(sqlite, readBox)
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: rememberStatements(sqlite) }),
    plugins: [sealedColumns(box)],
  })
  try {
    await migrate(db)
  } catch (cause) {
    await db.destroy()
    throw cause
  }
  const countChanges = sqlite.prepare('select total_changes()').pluck()
  return {
    db,
    changes: () => countChanges.get() as number,
    rewrite() {
      sqlite.exec('vacuum')
      sqlite.pragma('wal_checkpoint(TRUNCATE)')
    },
    transaction: (work) => db.transaction().execute(work).catch(tellFullDisk),
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}

function readBoxOf(sqlite: BetterSqlite.Database, readBox: () => SecretBox): SecretBox {
  try {
    return readBox()
  } catch (cause) {
    sqlite.close()
    throw cause
  }
}

/** A store in memory has a key of its own. */
function boxBeside(file: string): SecretBox {
  return createSecretBox(
    file === ':memory:' ? randomBytes(32) : readStoreKey(join(dirname(file), 'store.key')),
  )
}

/**
 * It holds the databases' secrets, and so does what SQLite writes beside it, with the mode that the file has then: it is the owner's only
 * before SQLite opens it, whatever the umask. What an earlier Fairlead has left is mended.
 */
function keepPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (cause) {
    if (!isCode(cause, 'EEXIST')) throw explain(cause, file)
  }
  for (const each of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) {
    try {
      chmodSync(each, 0o600)
    } catch (cause) {
      if (!isCode(cause, 'ENOENT')) throw explain(cause, file)
    }
  }
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code
}

/** On a full disk SQLite rolls back by itself, and Kysely's own rollback then hides why. */
function tellFullDisk(cause: unknown): never {
  if (!(cause instanceof Error) || !cause.message.includes('no transaction is active')) throw cause
  throw Object.assign(new Error('the store could not be written: its disk is full', { cause }), {
    code: 'SQLITE_FULL',
  })
}

async function migrate(db: Db): Promise<void> {
  const { error, results } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest()
  if (error === undefined) return
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName
  throw new Error(
    failed === undefined
      ? `the store does not fit this version of Fairlead: ${String(error)}`
      : `the store cannot be brought up to date (${failed}): ${String(error)}`,
    { cause: error },
  )
}

function explain(cause: unknown, file: string): Error {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code.startsWith('SQLITE_BUSY')) return new Error(`another Fairlead server runs on ${file}`, { cause })
  return new Error(
    `the store ${file} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
}
