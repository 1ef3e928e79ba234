import { printable } from '@fairlead/engine'
import { readLog, readLogLine, strikeOut } from '../process/engine-log.ts'

/** An engine that writes more than this between two looks is read from the end. */
const LOOK_BYTES = 64 * 1024
const LOOK_EVERY_MS = 1_000
const MAX_LENGTH = 600
/** The reason stands above its consequence: "Can't handle RDB format", then "Failed trying to load the MASTER …". */
const MAX_LINES = 4

/** Which part of an engine's log is meant, and what must not be shown of it. */
export interface LogOfProcess {
  /** Unix milliseconds: tells one process of a shard from the next. */
  readonly startedAt: number
  /** Where in the log its own lines begin, in bytes. */
  readonly logFrom: number
  readonly secrets: readonly string[]
}

/** Follows the log of one shard, and finds failures of replication and persistence. */
export interface TroubleWatch {
  /** Reads what was appended, at most once a second. Throws when the log cannot be read. */
  look(log: LogOfProcess): Promise<void>
  /** The last such lines of the process that was started then, secrets struck out; empty when there are none. */
  of(startedAt: number): string
  /** They say that it cannot read the data of a full sync, however often it tries. */
  cannotRead(startedAt: number): boolean
  /** Tells whether, since it last served a full sync, it could twice not write its data in the format of a follower. */
  cannotSend(startedAt: number): boolean
  /** Its last line, whatever it says; empty when none has been read. */
  lastLineOf(startedAt: number): string
}

/** Follows the log of an engine at `path` from where the last look ended. */
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
      // A line that is being written is left for the next look.
      const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
      offset = whole.length === 0 && bytes.length === LOOK_BYTES ? end : end - bytes.length + whole.length
      const text = strikeOut(whole.toString('utf8'), secrets)
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
 * The last lines of trouble. `open`: a next one belongs to them. `alike`: how many full syncs in a row could not be
 * loaded for one `reason`, the line above. `unsent`: how many could not be written for a follower.
 */
export interface Trouble {
  readonly lines: readonly string[]
  readonly open: boolean
  /** It has said that it cannot read the data of a full sync, and has loaded none since. */
  readonly unreadable: boolean
  readonly alike: number
  readonly unsent: number
  readonly reason: string
}

/** The log reports no trouble. */
export const noTrouble: Trouble = {
  lines: [],
  open: false,
  unreadable: false,
  alike: 0,
  unsent: 0,
  reason: '',
}

/** The known trouble after `text`, the next whole lines of a log. */
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
/** A sync that was cut, or met the machine, is no evidence of what the next one will do. */
const CUT = /^$|short read|unexpected (EOF|end)|I\/O error|timed? ?out|lost|reset|closed|OOM|no space|open/i
const SYNCED = /sync: Finished with success/i
const SERVED = /^Synchronization with (replica|slave) .* succeeded/i

/** Its lines as one sentence for a report, without arguments that may be secrets, and cut to a bounded length. */
export function describeTrouble({ lines }: Trouble): string {
  return printable(lines.map(withoutArguments).join('; '), MAX_LENGTH)
}

/**
 * What the engines write when they cannot read the data of a full sync, however often they try (docs/explain/measurements/engines.md §2, §3). A sync that was cut
 * is no evidence: then they write "Short read" and "Failed trying to load", too, and the next one may get through.
 */
const UNREADABLE =
  /Can't handle (RDB format|foreign type)|Unknown object type|module data I can't load|Failed loading library|Unknown RDB|not terminated by the proper module value/i

/** Matches the words of valkey 9.1, which writes an older format and ends the transfer at a hash whose fields expire. */
const UNSENDABLE = /Can't store key/i

/** Whether the engine could not read its files, as these lines say. */
export function tellsUnreadable({ unreadable, alike }: Trouble): boolean {
  return unreadable || alike >= ALIKE_MOST
}

/** Another attempt would fail in the same way, whatever the engine's words are. */
const ALIKE_MOST = 2

const TOPIC =
  /RDB|AOF|append.?only|BGSAVE|\bSYNC\b|sync(hronization|ing)?\b|\bsav(e|ing)\b|\bDB\b|disk|fsync|No space|master|primary|replica|slave|backlog|output buffer|\blibrary\b/i
const WRONG =
  /can't|cannot|could not|fail|error|unable|abort|time(d )?out|terminated|short (read|write)|no space|not (accepted|supported)|wrong|bad |corrupt|critical|fatal|invalid|mismatch|output buffer limits|lost/i
/**
 * Lines that report no trouble: printed at every start; about clients that are no replicas (flag S); and
 * about a child that the engine itself ended by SIGUSR1 (10), because its output is no longer needed.
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
