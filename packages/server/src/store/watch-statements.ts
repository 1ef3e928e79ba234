import type { LogEvent } from 'kysely'
import { StoreAway } from './postgres/postgres-trouble.ts'

/** Told of each statement: how long it took, and why it failed if it did. */
export type OnStatement = (milliseconds: number, failure?: StatementFailure) => void

/** `constraint`: a row that may not be there twice, which is how some requests are refused. */
export type StatementFailure = 'away' | 'constraint' | 'other'

/** What Kysely is to tell of statements. */
export function watchStatements(onStatement: OnStatement | undefined) {
  if (onStatement === undefined) return {}
  return {
    log: (event: LogEvent) =>
      onStatement(event.queryDurationMillis, event.level === 'error' ? failureOf(event.error) : undefined),
  }
}

function failureOf(cause: unknown): StatementFailure {
  if (cause instanceof StoreAway) return 'away'
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return code.startsWith('SQLITE_CONSTRAINT') || code.startsWith('23') ? 'constraint' : 'other'
}
