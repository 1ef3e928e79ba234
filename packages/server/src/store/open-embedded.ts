import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf, messageOf } from '@fairlead/engine'
import BetterSqlite from 'better-sqlite3'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import { migrate } from './migrate.ts'
import { sealedColumns } from './sealed-columns.ts'
import { createSecretBox, readStoreKey, type SecretBox } from './secret-box.ts'
import { storable } from './storable.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'
import { type OnStatement, watchStatements } from './watch-statements.ts'
import { noteCommit } from './wrap-failure-after-commit.ts'

/**
 * Opens or creates the embedded store in `file`, and migrates it. Seals databases' secrets with `readBox`,
 * called once the file is ours; default: the key in store.key next to it.
 *
 * Locks the file for the process's life, until a kill. Commits are on disk before they count. Throws if
 * another server holds the file, or a newer Fairlead wrote it.
 */
export async function openEmbedded(
  file: string,
  readBox: () => SecretBox = () => boxBeside(file),
  onStatement?: OnStatement,
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

  // SQLite's function only knows English letters.
  sqlite.function('lower', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  )
  const box = readBoxOf(sqlite, readBox)
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: rememberStatements(sqlite) }),
    plugins: [sealedColumns(box)],
    ...watchStatements(onStatement),
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
    dbOfLeases: db,
    isShared: false,
    changes: () => countChanges.get() as number,
    async rewrite() {
      sqlite.exec('vacuum')
      sqlite.pragma('wal_checkpoint(TRUNCATE)')
    },
    async transaction(work) {
      const value = await db.transaction().execute(work).catch(explainFullDisk)
      noteCommit()
      return value
    },
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

/** A store in memory has a separate key. */
function boxBeside(file: string): SecretBox {
  return createSecretBox(
    file === ':memory:' ? randomBytes(32) : readStoreKey(join(dirname(file), 'store.key')),
  )
}

/**
 * Restricts the file to its owner before SQLite opens it, whatever the umask. SQLite's other files get the
 * same mode; files of an earlier Fairlead are corrected.
 */
function keepPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw explain(cause, file)
  }
  for (const each of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) {
    try {
      chmodSync(each, 0o600)
    } catch (cause) {
      if (codeOf(cause) !== 'ENOENT') throw explain(cause, file)
    }
  }
}

/** On a full disk SQLite rolls back automatically, and Kysely's rollback then hides the cause. */
function explainFullDisk(cause: unknown): never {
  if (!(cause instanceof Error) || !cause.message.includes('no transaction is active')) throw cause
  throw Object.assign(new Error('the store could not be written: its disk is full', { cause }), {
    code: 'SQLITE_FULL',
  })
}

function explain(cause: unknown, file: string): Error {
  if (codeOf(cause).startsWith('SQLITE_BUSY'))
    return new Error(`another Fairlead server runs on ${file}`, { cause })
  return new Error(`the store ${file} cannot be opened: ${messageOf(cause)}`, { cause })
}

/** Statements to keep; lists of values make different ones. The oldest is evicted. */
const MOST_KEPT = 500

/** Prepares statements once: preparing costs several times as much as running. */
function rememberStatements(sqlite: BetterSqlite.Database): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>()
  return {
    prepare(sql) {
      const known = kept.get(sql)
      if (known !== undefined) return known
      const [oldest] = kept.keys()
      if (oldest !== undefined && kept.size >= MOST_KEPT) kept.delete(oldest)
      const statement = withStorable(sqlite.prepare(sql))
      kept.set(sql, statement)
      return statement
    },
    close: () => void sqlite.close(),
  }
}

function withStorable(statement: BetterSqlite.Statement): SqliteStatement {
  return {
    reader: statement.reader,
    all: (values) => statement.all(storable(values)),
    run: (values) => statement.run(storable(values)),
    iterate: (values) => statement.iterate(storable(values)) as IterableIterator<unknown>,
  }
}
