import type BetterSqlite from 'better-sqlite3'
import type { SqliteDatabase } from 'kysely'

/** Statements that are kept; lists of values make different ones. The oldest goes first. */
const MOST_KEPT = 500

/** `sqlite`, whose statements are prepared once: preparing costs several times what running does. */
export function rememberStatements(sqlite: BetterSqlite.Database): SqliteDatabase {
  const kept = new Map<string, BetterSqlite.Statement>()
  return {
    prepare(sql) {
      const known = kept.get(sql)
      if (known !== undefined) return known
      const [oldest] = kept.keys()
      if (oldest !== undefined && kept.size >= MOST_KEPT) kept.delete(oldest)
      const statement = sqlite.prepare(sql)
      kept.set(sql, statement)
      return statement
    },
    close: () => void sqlite.close(),
  }
}
