import type { LogEntry } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import { printList } from '../../output/print-answer.ts'
import { type RecordOptions, readChoice, recordColumns } from './describe-record.ts'

/** The options of `audit list`. */
export interface AuditOptions extends CommonOptions, RecordOptions {
  readonly limit: number
}

/** The server's page size. */
const PAGE = 1_000

/** Prints records of the audit, the newest first. */
export async function listAudit(context: Context, { limit, ...options }: AuditOptions): Promise<void> {
  const { api } = await context.link()
  const choice = await readChoice(context, options)
  const query = { ...choice, order: 'desc', limit: Math.max(1, Math.min(PAGE, limit)) } as const
  const rows: LogEntry[] = []
  for await (const page of api.listLogs.pages({ query })) {
    rows.push(...page)
    if (rows.length >= limit) break
  }
  const nameOf = ({ uid }: LogEntry) => String(uid)
  printList(
    context.terminal,
    { rows: rows.slice(0, limit), columns: recordColumns, nameOf, empty: 'There is no such record.' },
    context.answer,
  )
}
