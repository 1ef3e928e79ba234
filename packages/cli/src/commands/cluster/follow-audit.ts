import type { LogEntry } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { type Exit, exitCodes } from '../../output/exit-codes.ts'
import { printValue } from '../../output/print-answer.ts'
import { showTime } from '../../output/show-quantity.ts'
import { inOneLine } from '../../output/without-orders.ts'
import { nameOrUid } from '../find-database.ts'
import { namesFor, type RecordOptions, type RecordQuery, readChoice, typeWord } from './audit.ts'

/** The options of `audit follow`. */
export interface FollowOptions extends CommonOptions, Omit<RecordOptions, 'until' | 'action'> {
  readonly lines: number
}

/**
 * Prints the last audit records as lines, the newest last, and new ones until Ctrl-C. A broken connection
 * loses none.
 */
export async function followAudit(context: Context, options: FollowOptions): Promise<void> {
  const { form, columns } = context.answer
  if (form === 'yaml' || form === 'name')
    throw new CommandFault('usage', 'these are lines: they have the forms table and jsonl')
  if (columns !== undefined)
    throw new CommandFault('usage', 'lines have no columns: fairlead audit list --columns …, or -o jsonl')
  const link = await context.link()
  const choice = await readChoice(context, options)
  await follow(context, link, choice, tailOf(context, link, choice, options))
}

interface Tail {
  /** Prints stored records that were not printed yet. */
  catchUp(): Promise<void>
  /** Prints a record unless it was printed before. */
  print(record: LogEntry): Promise<void>
}

function tailOf(context: Context, link: Link, choice: RecordQuery, options: FollowOptions): Tail {
  const { api } = link
  let last: LogEntry | undefined
  let names: ReadonlyMap<number, string> = new Map()
  const print = async (record: LogEntry) => {
    if (last !== undefined && record.uid <= last.uid) return
    last = record
    const { bdb_uid: uid } = record
    if (uid !== undefined && !names.has(Number(uid))) names = await namesFor(context, link)
    write(context, record, names)
  }
  return {
    print,
    async catchUp() {
      if (last === undefined) {
        const lines = Math.min(options.lines, 10_000)
        const query = { ...choice, order: 'desc', limit: Math.max(1, lines) } as const
        const newest = await api.listLogs({ query })
        // Without records to print, following begins after the newest one.
        if (lines === 0) last = newest[0]
        else for (const record of newest.toReversed()) await print(record)
        return
      }
      const query = { ...choice, stime: last.time, limit: 1_000 } as const
      for await (const page of api.listLogs.pages({ query })) for (const record of page) await print(record)
    },
  }
}

/** Opens the stream first, so that records written while the list is read are in both, and printed once. */
async function follow(context: Context, link: Link, choice: RecordQuery, tail: Tail): Promise<void> {
  const stop = new AbortController()
  let exit: Exit | undefined
  const end = (why: Exit) => () => {
    exit ??= why
    stop.abort(new Error(why))
  }
  const [interrupted, terminated] = [end('interrupted'), end('terminated')]
  process.on('SIGINT', interrupted).on('SIGTERM', terminated)
  context.terminal.gone.addEventListener('abort', end('done'), { once: true })
  const query = { topics: 'audit', ...(choice.bdb_uid !== undefined && { database: choice.bdb_uid }) }
  try {
    for await (const event of link.api.followEvents({ query }, { signal: stop.signal })) {
      if (event.type === 'live') await tail.catchUp()
      else if (event.type === 'audit' && isChosen(event.record, choice)) await tail.print(event.record)
    }
  } catch (cause) {
    if (exit === undefined) throw cause
    process.exitCode = exitCodes[exit].code
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', terminated)
  }
}

function isChosen(record: LogEntry, { type, severity, originator, bdb_uid }: RecordQuery): boolean {
  return (
    (type === undefined || record.type === type) &&
    (severity === undefined || record.severity === severity) &&
    (originator === undefined || record.originator === originator) &&
    (bdb_uid === undefined || record.bdb_uid === String(bdb_uid))
  )
}

function write({ terminal, answer }: Context, record: LogEntry, names: ReadonlyMap<number, string>): void {
  if (answer.form === 'json' || answer.form === 'jsonl') {
    terminal.outPainted(printValue(record, 'jsonl', answer))
    return
  }
  const { recorded_at, type, severity, originator, bdb_uid, details } = record
  const facts = Object.entries(details).map(([name, value]) => `${name}=${value}`)
  const about = bdb_uid === undefined ? [] : [nameOrUid(names, bdb_uid)]
  const line = [...about, originator === '' ? 'fairlead' : originator, ...facts].join(' ')
  const safe = inOneLine(line)
  const time = showTime(Date.parse(recorded_at), terminal)
  const what = inOneLine(typeWord(type))
  const painted = severity === 'WARNING' ? terminal.paint('warn', what) : what
  terminal.outPainted(`${time} ${painted} ${safe}\n`)
}
