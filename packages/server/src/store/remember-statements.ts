import type BetterSqlite from 'better-sqlite3'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import { storable } from './storable.ts'

/** Statements to keep; lists of values make different ones. The oldest is evicted. */
const MOST_KEPT = 500

/** Prepares statements once: preparing costs several times as much as running. */
export function rememberStatements(sqlite: BetterSqlite.Database): SqliteDatabase {
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
