import { codeOf } from '@fairlead/engine'
import type { LogEvent } from 'kysely'
import { StoreAway } from './postgres/postgres-trouble.ts'

/** Called with each statement's duration, and its failure if any. */
export type OnStatement = (milliseconds: number, failure?: StatementFailure) => void

/** `constraint`: a duplicate row, by which some requests are refused. */
export type StatementFailure = 'away' | 'constraint' | 'other'

/** Options of Kysely to report statements. */
export function watchStatements(onStatement: OnStatement | undefined) {
  if (onStatement === undefined) return {}
  return {
    log: (event: LogEvent) =>
      onStatement(event.queryDurationMillis, event.level === 'error' ? failureOf(event.error) : undefined),
  }
}

function failureOf(cause: unknown): StatementFailure {
  if (cause instanceof StoreAway) return 'away'
  const code = codeOf(cause)
  return code.startsWith('SQLITE_CONSTRAINT') || code.startsWith('23') ? 'constraint' : 'other'
}
