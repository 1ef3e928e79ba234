import type { LogEntry } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { type Exit, exitCodes } from '../../output/exit-codes.ts'
import { printValue } from '../../output/print-answer.ts'
import { showTime } from '../../output/show-quantity.ts'
import { inOneLine } from '../../output/without-orders.ts'
import { type RecordOptions, type RecordQuery, readChoice } from './audit.ts'

/** The options of `logs`. */
export interface LogsOptions extends CommonOptions, Omit<RecordOptions, 'until' | 'action'> {
  readonly follow?: boolean
  readonly lines: number
}

/**
 * Prints the last audit records as lines, the newest last; with `--follow` also new ones until Ctrl-C. A
 * broken connection loses none.
 */
export async function showLogs(context: Context, options: LogsOptions): Promise<void> {
  const { form, columns } = context.answer
  if (form === 'yaml' || form === 'name')
    throw new CommandFault('usage', 'these are lines: they have the forms table and jsonl')
  if (columns !== undefined)
    throw new CommandFault('usage', 'lines have no columns: fairlead audit list --columns …, or -o jsonl')
  const link = await context.link()
  const choice = await readChoice(context, options)
  const tail = tailOf(context, link, choice, options)
  if (options.follow === true) await follow(context, link, choice, tail)
  else await tail.catchUp()
}

interface Tail {
  /** Prints stored records that were not printed yet. */
  catchUp(): Promise<void>
  /** Prints a record unless it was printed before. */
  print(record: LogEntry): void
}

function tailOf(context: Context, { api }: Link, choice: RecordQuery, options: LogsOptions): Tail {
  let last: LogEntry | undefined
  const print = (record: LogEntry) => {
    if (last !== undefined && record.uid <= last.uid) return
    last = record
    write(context, record)
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
        else for (const record of newest.toReversed()) print(record)
        return
      }
      const query = { ...choice, stime: last.time, limit: 1_000 } as const
      for await (const page of api.listLogs.pages({ query })) for (const record of page) print(record)
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
      else if (event.type === 'audit' && isChosen(event.record, choice)) tail.print(event.record)
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

function write({ terminal, answer }: Context, record: LogEntry): void {
  if (answer.form === 'json' || answer.form === 'jsonl') {
    terminal.outPainted(printValue(record, 'jsonl', answer))
    return
  }
  const { recorded_at, type, severity, originator, bdb_uid, details } = record
  const facts = Object.entries(details).map(([name, value]) => `${name}=${value}`)
  const about = bdb_uid === undefined ? [] : [`bdb:${bdb_uid}`]
  const line = [...about, originator === '' ? 'fairlead' : originator, ...facts].join(' ')
  const safe = inOneLine(line)
  const time = showTime(Date.parse(recorded_at), terminal)
  const what = inOneLine(type)
  const painted = severity === 'WARNING' ? terminal.paint('warn', what) : what
  terminal.outPainted(`${time} ${painted} ${safe}\n`)
}
