import { AsyncLocalStorage } from 'node:async_hooks'
import BetterSqlite from 'better-sqlite3'

/** A statement that an embedded store of this process has executed, and the number of rows in its answer. */
export interface Read {
  readonly statement: string
  readonly rows: number
}

/**
 * Records statements of all embedded stores in this process until disposed of: those of the work, not those
 * of concurrent timers.
 */
export function watchReads(): Disposable & { readonly during: During } {
  const works = new AsyncLocalStorage<Read[]>()
  const sqlite = new BetterSqlite(':memory:')
  const statements = Object.getPrototypeOf(sqlite.prepare('select 1')) as BetterSqlite.Statement
  sqlite.close()
  const { all, run } = statements
  statements.all = function (this: BetterSqlite.Statement, ...parameters) {
    const rows = all.apply(this, parameters)
    works.getStore()?.push({ statement: this.source, rows: rows.length })
    return rows
  }
  statements.run = function (this: BetterSqlite.Statement, ...parameters) {
    works.getStore()?.push({ statement: this.source, rows: 0 })
    return run.apply(this, parameters)
  }
  return {
    async during(work) {
      const reads: Read[] = []
      const answer = await works.run(reads, work)
      return { answer, reads: [...reads] }
    },
    [Symbol.dispose]() {
      Object.assign(statements, { all, run })
    },
  }
}

type During = <T>(work: () => Promise<T>) => Promise<{ readonly answer: T; readonly reads: readonly Read[] }>
