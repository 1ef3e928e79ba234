import { writeCommand } from './resp-lite.ts'

export type LoadKind = 'set' | 'incr'

/**
 * The writes of one run: what is sent, and what must be found afterwards. Both are derived from the numbers
 * of the commands.
 */
export interface LedgerWrites {
  command(connection: number, number: number): string
  /** The key of a command. For `incr` it is the connection's counter, whatever the number. */
  key(connection: number, number: number): string
  /** What `set` writes under that key. */
  value(connection: number, number: number): string
}

/** `valueBytes` is the least length of a value: it begins with its key, so that no two are alike. */
export function createLedgerWrites(options: {
  readonly kind: LoadKind
  readonly prefix: string
  readonly valueBytes: number
  /** The tag of each connection; an empty tag is left out. */
  readonly tags: readonly string[]
}): LedgerWrites {
  const { kind, prefix, valueBytes, tags } = options
  const counters = tags.map((tag, connection) => `${prefix}:${tag === '' ? '' : `{${tag}}:`}${connection}`)
  const padding = 'x'.repeat(valueBytes)

  const counter = (connection: number) => counters[connection] ?? ''
  const key = (connection: number, number: number) =>
    kind === 'set' ? `${counter(connection)}:${number}` : counter(connection)
  const value = (connection: number, number: number) => {
    const head = `${counter(connection)}:${number}=`
    return head + padding.slice(0, Math.max(0, valueBytes - head.length))
  }
  return {
    key,
    value,
    command: (connection, number) =>
      kind === 'set'
        ? writeCommand('SET', key(connection, number), value(connection, number))
        : writeCommand('INCR', counter(connection)),
  }
}
