import { createHash } from 'node:crypto'
import { splitInline } from '@fairlead/engine'

/** One command of the matrix: the request, the commands before it, and those that show its effect. */
export interface Row {
  /** In capitals, with its subcommand: CLIENT SETNAME. */
  readonly name: string
  readonly ask: string
  /** The commands before it, on the same connection. */
  readonly before: readonly string[]
  /** The commands that show its effect, on the same connection. */
  readonly after: readonly string[]
  readonly marks: ReadonlySet<Mark>
}

/**
 * How replies are compared with those of a single engine, if not by each byte, which is the default: `set`,
 * in any order; `numbers`, apart from the digits in it; `kind`, only its type. `error`: an error is the right
 * reply; `may-fail`: it is so for some engines. `alone`: it concerns the whole database, so nothing else is
 * under way. `no-multi`: inside of MULTI it has another meaning, or breaks the reply. `resp3`: RESP2 has no
 * messages for it.
 */
export type Mark = 'set' | 'numbers' | 'kind' | 'error' | 'may-fail' | 'alone' | 'no-multi' | 'resp3'
const marks: readonly string[] = ['set', 'numbers', 'kind', 'error', 'may-fail', 'alone', 'no-multi', 'resp3']

/** Commands that are known by two words; COMMAND also by one. */
const containers = new Set([
  ...['ACL', 'CLIENT', 'CLUSTER', 'COMMAND', 'COMMANDLOG', 'CONFIG', 'FUNCTION', 'LATENCY', 'MEMORY'],
  ...['MODULE', 'OBJECT', 'PUBSUB', 'SCRIPT', 'SLOWLOG', 'XGROUP', 'XINFO'],
])

/**
 * Reads a table of four columns, of which the last ones may be missing: `ask | before | after | marks`.
 * Commands of a column are separated by ` ; `. `$k` is a key (or a channel) of the row's own, `@` in front of
 * a command means another client, and `<` an unrequested message.
 */
export function rowsOf(table: string): readonly Row[] {
  return table
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(readRow)
}

function readRow(line: string): Row {
  const [ask = '', before = '', after = '', marked = '', ...rest] = line
    .split(/ \|(?= |$)/)
    .map((cell) => cell.trim())
  if (ask === '' || rest.length > 0) throw new Error(`not a row: ${line}`)
  const commands = (cell: string) => (cell === '' ? [] : cell.split(/ ; /).map((each) => each.trim()))
  const found = marked.split(' ').filter((mark) => mark !== '')
  const unknown = found.find((mark) => !marks.includes(mark))
  if (unknown !== undefined) throw new Error(`not a mark: ${unknown} in ${line}`)
  return {
    name: nameOf(ask),
    ask,
    before: commands(before),
    after: commands(after),
    marks: new Set(found as Mark[]),
  }
}

function nameOf(ask: string): string {
  const [name = '', sub = ''] = ask.toUpperCase().split(' ')
  return containers.has(name) && sub !== '' ? `${name} ${sub}` : name
}

/**
 * The words of a command, as engines split them. `$k` becomes a key with the hash tag `tag`, `%t` the tag,
 * `%h` the SHA-1 of the script "return 'tag'".
 */
export function wordsOf(command: string, tag: string): readonly Buffer[] {
  const text = command
    .replaceAll(/\$([a-z])\b/g, `{${tag}}$1`)
    .replaceAll('%t', tag)
    .replaceAll('%h', shaOf(tag))
  const words = splitInline(Buffer.from(text, 'latin1'))
  if (words === null) throw new Error(`quotes are not closed: ${command}`)
  return words
}

/** The SHA-1 of the script "return 'tag'", for EVALSHA. */
export function shaOf(tag: string): string {
  return createHash('sha1').update(`return '${tag}'`).digest('hex')
}
