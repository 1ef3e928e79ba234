import { printable } from '@fairlead/engine'
import { readLog, readLogLine, redact } from '../process/engine-log.ts'

/** If an engine writes more than this between two looks, only the end is read. */
const LOOK_BYTES = 64 * 1024
const LOOK_EVERY_MS = 1_000
const MAX_LENGTH = 600
/** The reason precedes the consequence: "Can't handle RDB format", "Failed trying to load the MASTER …". */
const MAX_LINES = 4

/** Part of an engine's log, and texts that must not be shown. */
export interface LogOfProcess {
  /** Unix ms: identifies a process of the shard. */
  readonly startedAt: number
  /** Position of its first line in the log, in bytes. */
  readonly logFrom: number
  readonly secrets: readonly string[]
}

/** Follows the log of one shard, and finds failures of replication and persistence. */
export interface TroubleWatch {
  /** Reads what was appended, at most once a second. Throws if the log is unreadable. */
  look(log: LogOfProcess): Promise<void>
  /** Last failure lines of the process that started then, without secrets; empty if none. */
  of(startedAt: number): string
  /** True if it can never read the data of a full sync. */
  cannotRead(startedAt: number): boolean
  /** True if it has twice failed to write its data in a follower's format since its last served full sync. */
  cannotSend(startedAt: number): boolean
  /** Last line of its log; empty if none was read. */
  lastLineOf(startedAt: number): string
}

/** Follows the log of an engine at `path` from the end of the last look. */
export function watchTrouble(path: string): TroubleWatch {
  let followed: number | null = null
  let offset = 0
  let found = noTrouble
  let lastLine = ''
  let nextLook = 0
  return {
    async look({ startedAt, logFrom, secrets }) {
      if (followed === startedAt && performance.now() < nextLook) return
      if (followed !== startedAt) {
        offset = logFrom
        found = noTrouble
        lastLine = ''
        followed = startedAt
      }
      nextLook = performance.now() + LOOK_EVERY_MS
      const { bytes, end } = await readLog(path, offset, LOOK_BYTES)
      // An incomplete line is left for the next look.
      const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
      offset = whole.length === 0 && bytes.length === LOOK_BYTES ? end : end - bytes.length + whole.length
      const text = redact(whole.toString('utf8'), secrets)
      found = findTrouble(found, text)
      lastLine = findLastLine(text) ?? lastLine
    },
    of: (startedAt) => (followed === startedAt ? describeTrouble(found) : ''),
    cannotRead: (startedAt) => followed === startedAt && tellsUnreadable(found),
    cannotSend: (startedAt) => followed === startedAt && found.unsent >= ALIKE_MOST,
    lastLineOf: (startedAt) => (followed === startedAt ? lastLine : ''),
  }
}

function findLastLine(text: string): string | undefined {
  const last = text.split('\n').findLast((line) => line.trim() !== '')
  return last === undefined ? undefined : printable(withoutArguments(readLogLine(last).text), MAX_LENGTH)
}

/**
 * The last failure lines. `open`: a following one belongs to them. `alike`: consecutive full syncs that could
 * not be loaded for the same `reason`, the line above; `unsent`: those that could not be written for a
 * follower.
 */
export interface Trouble {
  readonly lines: readonly string[]
  readonly open: boolean
  /** True if it reported unreadable data of a full sync, and has loaded none since. */
  readonly unreadable: boolean
  readonly alike: number
  readonly unsent: number
  readonly reason: string
}

/** No failure in the log. */
export const noTrouble: Trouble = {
  lines: [],
  open: false,
  unreadable: false,
  alike: 0,
  unsent: 0,
  reason: '',
}

/** Returns the failures after `text`, the next complete lines of a log. */
export function findTrouble(before: Trouble, text: string): Trouble {
  let { lines, open, unreadable, alike, unsent, reason } = before
  let above = lines.at(-1) ?? ''
  for (const line of text.split('\n')) {
    if (line === '') continue
    const { level, text: words } = readLogLine(line)
    if (NOT_LOADED.test(words) && !NOT_LOADED.test(above)) {
      alike = CUT.test(above) ? 0 : above === reason ? alike + 1 : 1
      reason = above
    } else if (SYNCED.test(words)) {
      alike = 0
      unreadable = false
    }
    if (UNSENDABLE.test(words)) unsent += 1
    else if (SERVED.test(words)) unsent = 0
    const isTrouble = tellsTrouble(level, words)
    if (level === '#') above = words
    if (isTrouble && UNREADABLE.test(words)) unreadable = true
    if (isTrouble) lines = [...(open ? lines.filter((each) => each !== words) : []), words].slice(-MAX_LINES)
    open = isTrouble
  }
  return { lines, open, unreadable, alike, unsent, reason }
}

const NOT_LOADED = /^Failed (trying )?to load (the )?(MASTER|PRIMARY|RDB|synchronization)/i
/** An interrupted sync, or a fault of the machine, predicts nothing about the next sync. */
const CUT = /^$|short read|unexpected (EOF|end)|I\/O error|timed? ?out|lost|reset|closed|OOM|no space|open/i
const SYNCED = /sync: Finished with success/i
const SERVED = /^Synchronization with (replica|slave) .* succeeded/i

/** Returns its lines as one sentence of limited length, without arguments that may be secrets. */
export function describeTrouble({ lines }: Trouble): string {
  return printable(lines.map(withoutArguments).join('; '), MAX_LENGTH)
}

/**
 * Engines' messages when they can never read the data of a full sync (docs/explain/measurements/engines.md
 * §2, §3). An interrupted sync does not count: it also causes "Short read" and "Failed trying to load", but
 * the next one may succeed.
 */
const UNREADABLE =
  /Can't handle (RDB format|foreign type)|Unknown object type|module data I can't load|Failed loading library|Unknown RDB|not terminated by the proper module value/i

/** Message of Valkey 9.1, which writes an older format and aborts at a hash with expiring fields. */
const UNSENDABLE = /Can't store key/i

/** True if these lines show that the engine could not read its files. */
export function tellsUnreadable({ unreadable, alike }: Trouble): boolean {
  return unreadable || alike >= ALIKE_MOST
}

/** Another attempt would fail in the same way, whatever the engine's words. */
const ALIKE_MOST = 2

const TOPIC =
  /RDB|AOF|append.?only|BGSAVE|\bSYNC\b|sync(hronization|ing)?\b|\bsav(e|ing)\b|\bDB\b|disk|fsync|No space|master|primary|replica|slave|backlog|output buffer|\blibrary\b/i
const WRONG =
  /can't|cannot|could not|fail|error|unable|abort|time(d )?out|terminated|short (read|write)|no space|not (accepted|supported)|wrong|bad |corrupt|critical|fatal|invalid|mismatch|output buffer limits|lost/i
/**
 * Lines without failure: printed at every start; about clients that are no replicas (flag S); about a child
 * that the engine ended by SIGUSR1 (10), because its output is no longer needed.
 */
const HARMLESS =
  /overcommit|terminated by signal 10$|\(Non critical\)|looks solved|^Client id=(?!.* flags=\w*S)/i
/** Engines log this as a notice, although it costs a full copy of the data. */
const NOTICED = /^Unable to partial resync|^Partial resynchronization not accepted/

function tellsTrouble(level: string | null, words: string): boolean {
  if (level === '#') return TOPIC.test(words) && WRONG.test(words) && !HARMLESS.test(words)
  return level === '*' && NOTICED.test(words)
}

/** An unknown command is quoted with its arguments: data of the database, which must not be shown. */
function withoutArguments(words: string): string {
  return words.replace(/, with args beginning with: .*?(?=' after processing the command|$)/, '')
}
