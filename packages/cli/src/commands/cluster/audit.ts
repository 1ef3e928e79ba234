import type { LogEntry } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { isForPeople } from '../../output/forms.ts'
import { type Column, printList } from '../../output/print-answer.ts'
import { readSeconds } from '../../output/read-quantity.ts'
import { showTime } from '../../output/show-quantity.ts'
import { findDatabase, nameOrUid, namesOfDatabases } from '../find-database.ts'

/** The options of `audit list`. */
export interface AuditOptions extends CommonOptions, RecordOptions {
  readonly limit: number
}

/** The server's page size. */
const PAGE = 1_000

/** Prints records of the audit, the newest first. */
export async function listAudit(context: Context, { limit, ...options }: AuditOptions): Promise<void> {
  const link = await context.link()
  const { api } = link
  const choice = await readChoice(context, options)
  const query = { ...choice, order: 'desc', limit: Math.max(1, Math.min(PAGE, limit)) } as const
  const rows: LogEntry[] = []
  for await (const page of api.listLogs.pages({ query })) {
    rows.push(...page)
    if (rows.length >= limit) break
  }
  const nameOf = ({ uid }: LogEntry) => String(uid)
  const columns = recordColumns(await namesFor(context, link))
  printList(
    context.terminal,
    { rows: rows.slice(0, limit), columns, nameOf, empty: 'There is no such record.' },
    context.answer,
  )
}

/** Prints the possible losses of a database that no user has seen, and records that they are seen. */
export async function seeLosses(context: Context, word: string): Promise<void> {
  const link = await context.link()
  const { uid, name } = await findDatabase(link, word)
  const rows = (await link.api.listLosses({})).filter(({ bdb_uid }) => bdb_uid === String(uid))
  const [newest] = rows
  if (newest !== undefined) await link.api.seeLosses({ params: { uid }, body: { up_to: newest.uid } })
  const columns = recordColumns(new Map([[uid, name]]))
  const empty = `No possible loss of ${name} is unseen.`
  const nameOf = (row: LogEntry) => String(row.uid)
  printList(context.terminal, { rows, columns, nameOf, empty }, context.answer)
}

/** Names for lines to people; JSON has the record itself. */
export async function namesFor({ answer }: Context, link: Link): Promise<ReadonlyMap<number, string>> {
  return isForPeople(answer.form) ? await namesOfDatabases(link) : new Map()
}

/** "database_created" for "bdb_created": `--type` takes both. */
export function typeWord(type: string): string {
  return type.replace(/^bdb_/, 'database_')
}

function recordColumns(names: ReadonlyMap<number, string>): readonly Column<LogEntry>[] {
  const style = ({ severity }: LogEntry) => (severity === 'WARNING' ? 'warn' : undefined)
  return [
    {
      name: 'time',
      value: ({ recorded_at }) => recorded_at,
      shown: ({ recorded_at }, terminal) => showTime(Date.parse(recorded_at), terminal),
    },
    { name: 'severity', value: ({ severity }) => severity, style, isWide: true },
    { name: 'type', value: ({ type }) => typeWord(type), style },
    { name: 'by', value: ({ originator }) => originator },
    { name: 'database', value: ({ bdb_uid: uid }) => (uid === undefined ? '' : nameOrUid(names, uid)) },
    { name: 'details', value: detailsOf },
    { name: 'address', value: ({ address }) => address ?? '', isWide: true },
    { name: 'uid', value: ({ uid }) => uid, isWide: true },
  ]
}

function detailsOf({ details }: LogEntry): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

/** Filters of records. */
export interface RecordOptions {
  readonly since?: string
  readonly until?: string
  readonly type?: string
  readonly severity?: 'INFO' | 'WARNING'
  readonly user?: string
  readonly database?: string
  readonly action?: string
}

/** The query of GET /v1/logs. */
export type RecordQuery = NonNullable<Parameters<Link['api']['listLogs']>[0]['query']>

/** Converts the filters for the API. Throws CommandFault for an unknown database or an invalid time. */
export async function readChoice({ link }: Context, options: RecordOptions): Promise<RecordQuery> {
  const { since, until, type, severity, user, database, action } = options
  return {
    ...(since !== undefined && { stime: timeOf('--since', since) }),
    ...(until !== undefined && { etime: timeOf('--until', until) }),
    ...(type !== undefined && { type: type.replace(/^database_/, 'bdb_') }),
    ...(severity !== undefined && { severity }),
    ...(user !== undefined && { originator: user }),
    ...(action !== undefined && { action_uid: action }),
    ...(database !== undefined && { bdb_uid: await uidOf(await link(), database) }),
  }
}

/** "2h" (two hours ago), or an ISO 8601 time. */
function timeOf(option: string, text: string): string {
  if (/^\d{4}-\d\d-\d\d/.test(text)) return text
  return new Date(Date.now() - readSeconds(option, text) * 1_000).toISOString()
}

async function uidOf({ api }: Link, word: string): Promise<number> {
  const [, uid] = /^(?:bdb:)?(\d{1,9})$/.exec(word) ?? []
  if (uid !== undefined) return Number(uid)
  const all = await api.listDatabases({ query: { q: word.slice(0, 63), fields: 'uid,name' } })
  const found = all.find(({ name }) => name === word)
  if (found !== undefined) return found.uid
  throw new CommandFault('not_found', `there is no database ${word}; of one that is gone, name the uid`, {
    code: 'db_not_exist',
  })
}
