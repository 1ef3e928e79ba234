import type { Obstacle } from '@fairlead/api'

/** A command as a user gives it. */
export interface GivenCommand {
  readonly command: string | readonly string[]
  readonly args?: readonly string[] | undefined
}

/** A permitted command, or the reason for a refusal. */
export type JudgedCommand =
  | { readonly words: readonly Buffer[]; readonly obstacle: undefined }
  | { readonly words: undefined; readonly obstacle: Obstacle<'command_not_allowed'> }

/**
 * Reads a command and checks that it can be sent alone on a connection. The engine checks the user's rights.
 * A line is split like redis-cli splits it; the words of a list, and `args` after them, are used unchanged.
 */
export function judgeCommand({ command, args: after = [] }: GivenCommand): JudgedCommand {
  const begin = typeof command === 'string' ? splitLine(command) : command.map((word) => Buffer.from(word))
  const words = begin && [...begin, ...after.map((word) => Buffer.from(word))]
  if (words === undefined)
    return refuse(
      `a quotation does not end, or goes on after its end; or there are more than ${MOST_WORDS} words`,
    )
  const [name, ...args] = words.map((word) => word.toString('latin1').toLowerCase())
  if (name === undefined || name === '') return refuse('there is no command in it')
  const why = whyNot(name, args)
  return why === undefined ? { words, obstacle: undefined } : refuse(why)
}

function refuse(why: string): JudgedCommand {
  return { words: undefined, obstacle: { code: 'command_not_allowed', why } }
}

function whyNot(name: string, args: readonly string[]): string | undefined {
  const reason = never.get(name)
  if (reason !== undefined) return `${name.toUpperCase()} ${reason}`
  const [first = ''] = args
  if (neverWith.get(name)?.includes(first) === true)
    return `${name.toUpperCase()} ${first.toUpperCase()} ${stateReason}`
  const isRead = name === 'xread' || name === 'xreadgroup'
  return isRead && optionsOf(args).includes('block') ? `BLOCK ${waitReason}` : undefined
}

/** Returns the options of a stream read: GROUP takes two names, COUNT a number, STREAMS the keys. */
function optionsOf(args: readonly string[]): readonly string[] {
  const options: string[] = []
  for (let n = 0; n < args.length && args[n] !== 'streams'; n += 1) {
    options.push(args[n] ?? '')
    n += valuesOf.get(args[n] ?? '') ?? 0
  }
  return options
}

const valuesOf: ReadonlyMap<string, number> = new Map([
  ['group', 2],
  ['count', 1],
])

const waitReason = 'waits; give the command that does not'
const stateReason = 'is about a connection, and each command has one of its own; use a client'
const streamReason = 'has replies without end; use a client'

const never: ReadonlyMap<string, string> = new Map([
  ...[
    ...['blpop', 'brpop', 'brpoplpush', 'blmove', 'blmpop', 'bzpopmin', 'bzpopmax', 'bzmpop'],
    ...['wait', 'waitaof'],
  ].map((name) => [name, waitReason] as const),
  ...[
    ...['auth', 'hello', 'select', 'reset', 'quit', 'multi', 'exec', 'discard', 'watch', 'unwatch'],
    ...['asking', 'readonly', 'readwrite'],
  ].map((name) => [name, stateReason] as const),
  ...[
    ...['subscribe', 'psubscribe', 'ssubscribe', 'unsubscribe', 'punsubscribe', 'sunsubscribe'],
    ...['monitor', 'sync', 'psync', 'replconf'],
  ].map((name) => [name, streamReason] as const),
])
const neverWith: ReadonlyMap<string, readonly string[]> = new Map([
  ['client', ['reply', 'tracking', 'caching', 'no-touch', 'no-evict']],
  ['script', ['debug']],
])

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }

/** The limit of a list. */
const MOST_WORDS = 1_024

/** Splits a line into words. Undefined if there are too many, or a quotation does not end properly. */
function splitLine(line: string): readonly Buffer[] | undefined {
  const words: Buffer[] = []
  let rest = line
  for (;;) {
    rest = rest.replace(/^\s+/, '')
    if (rest === '') return words
    const quoted = /^"((?:\\.|[^"\\])*)"(?=\s|$)/s.exec(rest) ?? /^'((?:\\'|[^'])*)'(?=\s|$)/.exec(rest)
    const plain = /^[^\s"'][^\s"']*(?=\s|$)/.exec(rest)
    const found = quoted ?? plain
    if (found === null || words.length === MOST_WORDS) return undefined
    const [whole, inner = whole] = found
    words.push(whole.startsWith('"') ? readEscapes(inner) : Buffer.from(inner.replace(/\\'/g, "'")))
    rest = rest.slice(whole.length)
  }
}

/** Decodes a double-quoted text: `\n` and the like, `\xHH` for a byte, any other character for itself. */
function readEscapes(text: string): Buffer {
  const parts = text.match(/\\x[0-9a-f]{2}|\\.|[^\\]+/gis) ?? []
  return Buffer.concat(
    parts.map((part) => {
      if (/^\\x[0-9a-f]{2}$/i.test(part)) return Buffer.from(part.slice(2), 'hex')
      const [, sign = ''] = /^\\(.)$/s.exec(part) ?? []
      return Buffer.from(sign === '' ? part : (escapes[sign] ?? sign))
    }),
  )
}
