import BetterSqlite from 'better-sqlite3'

/** A statement that an embedded store of this process has carried out, and how many rows it answered. */
export interface Read {
  readonly statement: string
  readonly rows: number
}

/** Records the statements of all embedded stores of this process until it is disposed of. */
export function watchReads(): Disposable & { readonly reads: Read[] } {
  const reads: Read[] = []
  const sqlite = new BetterSqlite(':memory:')
  const statements = Object.getPrototypeOf(sqlite.prepare('select 1')) as BetterSqlite.Statement
  sqlite.close()
  const { all, run } = statements
  statements.all = function (this: BetterSqlite.Statement, ...parameters) {
    const rows = all.apply(this, parameters)
    reads.push({ statement: this.source, rows: rows.length })
    return rows
  }
  statements.run = function (this: BetterSqlite.Statement, ...parameters) {
    reads.push({ statement: this.source, rows: 0 })
    return run.apply(this, parameters)
  }
  return {
    reads,
    [Symbol.dispose]() {
      Object.assign(statements, { all, run })
    },
  }
}
