import { type Command, wordAt } from './command.ts'
import { hasTooMany } from './commands.ts'

/** Which clients CLIENT LIST or CLIENT KILL concerns. Goes between threads. */
export interface Selection {
  readonly skipsAsker: boolean
  /** A client must fit all of them. */
  readonly filters: readonly Filter[]
}

/** One filter. `name` is in capitals; `not`: fits clients that have none of the values. */
export interface Filter {
  readonly name: FilterName
  readonly not: boolean
  readonly values: readonly string[]
}

/** A CLIENT LIST or CLIENT KILL. `isAddress`: its old form, CLIENT KILL 127.0.0.1:1234. */
export type ClientQuestion =
  | { readonly error: string }
  | {
      readonly kind: 'list' | 'kill'
      readonly isAddress: boolean
      readonly selection: Selection
    }

function isKept(command: Command): boolean {
  return command.name === 'CLIENT' && !command.cutShort && !hasTooMany(command)
}

const filterNames = [
  ...(['ID', 'TYPE', 'USER', 'ADDR', 'LADDR', 'IP', 'NAME', 'DB', 'FLAGS', 'CAPA'] as const),
  ...(['LIB-NAME', 'LIB-VER', 'MAXAGE', 'IDLE'] as const),
]
/** The filters of valkey 9.1: those of all builds. */
export type FilterName = (typeof filterNames)[number]

/** Returns the question; undefined if it is another command, or has more arguments than are kept. */
export function clientQuestion(command: Command): ClientQuestion | undefined {
  const sub = wordAt(command, 0)
  if (!isKept(command) || (sub !== 'LIST' && sub !== 'KILL')) return undefined
  const kind = sub === 'LIST' ? 'list' : 'kill'
  const args = command.args.slice(1).map((arg) => arg.toString('latin1'))
  const [address] = args
  if (kind === 'kill' && address === undefined)
    return { error: "ERR wrong number of arguments for 'client|kill' command" }
  if (kind === 'kill' && address !== undefined && args.length === 1)
    return {
      kind,
      isAddress: true,
      selection: { skipsAsker: false, filters: [{ name: 'ADDR', not: false, values: [address] }] },
    }
  const selection = readFilters(args, kind === 'kill')
  return 'error' in selection ? selection : { kind, isAddress: false, selection }
}

function readFilters(args: readonly string[], skips: boolean): Selection | { readonly error: string } {
  const filters: Filter[] = []
  let skipsAsker = skips
  for (let at = 0; at < args.length; ) {
    const word = args[at]?.toUpperCase() ?? ''
    const value = args[at + 1]
    if (value === undefined) return syntaxError
    at += 2
    if (word === 'SKIPME') {
      if (!/^(yes|no)$/i.test(value)) return syntaxError
      skipsAsker = value.toLowerCase() === 'yes'
      continue
    }
    const not = word.startsWith('NOT-')
    const name = filterNames.find((each) => each === (not ? word.slice(4) : word))
    if (name === undefined || (not && (name === 'MAXAGE' || name === 'IDLE'))) return syntaxError
    const values = [value]
    // Only numbers follow a number: the next word is the next filter.
    if (name === 'ID') for (; isInteger(args[at]); at += 1) values.push(args[at] ?? '')
    const error = errorOf(name, values)
    if (error !== undefined) return { error }
    filters.push({ name, not, values })
  }
  return { skipsAsker, filters }
}

const syntaxError = { error: 'ERR syntax error' }

/** Errors in the words of valkey 9.1. */
function errorOf(name: FilterName, values: readonly string[]): string | undefined {
  const [value = ''] = values
  if (name === 'TYPE')
    return types.has(value.toLowerCase()) ? undefined : `ERR Unknown client type '${printable(value)}'`
  const word = numbers[name]
  if (word === undefined) return undefined
  if (!isInteger(value))
    return name === 'ID' ? syntaxError.error : `ERR ${word} is not an integer or out of range`
  const isTooLow = name !== 'DB' && values.some((each) => Number(each) <= 0)
  return isTooLow ? `ERR ${word} should be greater than 0` : undefined
}

/** Filters by a number, and the engine's words for it. */
const numbers: Partial<Readonly<Record<FilterName, string>>> = {
  ID: 'client-id',
  MAXAGE: 'maxage',
  IDLE: 'idle',
  DB: 'DB',
}

const types: ReadonlySet<string> = new Set(['normal', 'pubsub', 'master', 'primary', 'replica', 'slave'])

function isInteger(text: string | undefined): boolean {
  return text !== undefined && /^-?\d{1,15}$/.test(text)
}

/** An error is one line. */
function printable(text: string): string {
  return text.slice(0, 64).replaceAll(/[\r\n]/g, ' ')
}

/** True if a CLIENT with these arguments concerns other clients: LIST, KILL, TRACKING with REDIRECT. */
export function asksForPeers(args: readonly Buffer[]): boolean {
  const command = { name: 'CLIENT', args, cutShort: false }
  return 'kind' in (clientQuestion(command) ?? {}) || redirectAt(command) > 0
}

/** Returns the position of the client's number in CLIENT TRACKING ON … REDIRECT; -1 if it has none. */
export function redirectAt(command: Command): number {
  if (!isKept(command) || wordAt(command, 0) !== 'TRACKING') return -1
  for (let at = 2; at + 1 < command.args.length; at += 1) {
    if (wordAt(command, at) === 'PREFIX') at += 1
    else if (wordAt(command, at) === 'REDIRECT')
      return isInteger(command.args[at + 1]?.toString('latin1')) ? at + 1 : -1
  }
  return -1
}
