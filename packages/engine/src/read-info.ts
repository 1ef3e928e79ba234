import type { EngineAddress } from './engine-address.ts'
import { printable } from './printable.ts'

/** Fields of an INFO text, by name, without headings: no name occurs twice. Values are printable, short. */
export type InfoFields = Readonly<Record<string, string>>

/** About 10,000 are usual. Redis before 7.2 has a line for each kind of error that scripts made up. */
const LONGEST_INFO = 2_000_000
const LONGEST_VALUE = 500

/** Throws if the text is longer than any engine's. */
export function readInfo(text: string): InfoFields {
  checkLength(text)
  // Usually true, and then lines need no check.
  const isPlain = !/[^\x20-\x7e\r\n\t]/.test(text)
  // The most frequent text of the control plane: one pass, and no array per line.
  const fields: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0 || line.startsWith('#')) continue
    const value = line.slice(colon + 1).trimEnd()
    fields[line.slice(0, colon)] =
      isPlain && value.length <= LONGEST_VALUE ? value : printable(value, LONGEST_VALUE)
  }
  return fields
}

/**
 * Reads only the fields `names` of an INFO text, with the values of `readInfo`; missing ones are omitted. For
 * a few fields, this is a tenth of the work.
 */
export function pickInfo(text: string, names: readonly string[]): InfoFields {
  checkLength(text)
  return readInfo(names.map((name) => lineOf(text, name)).join('\n'))
}

function checkLength(text: string): void {
  if (text.length > LONGEST_INFO) throw new Error(`INFO of ${text.length} characters is not read`)
}

/** Empty if missing. */
function lineOf(text: string, name: string): string {
  const start = text.startsWith(`${name}:`) ? 0 : text.indexOf(`\n${name}:`) + 1
  if (start === 0 && !text.startsWith(`${name}:`)) return ''
  const end = text.indexOf('\n', start)
  return text.slice(start, end === -1 ? undefined : end)
}

/** Replication state of one process, from INFO replication. Offsets are bytes of the replication stream. */
export interface ReplicationInfo {
  readonly role: 'primary' | 'replica'
  /** Primary that a replica follows. */
  readonly primary: EngineAddress | null
  /** State of a replica's link: `up` if the stream flows. A primary has none. */
  readonly link: 'up' | 'down'
  /** True if a replica is receiving a full sync. */
  readonly syncing: boolean
  readonly replid: string
  /** History before its last promotion, valid up to `secondOffset` - 1. */
  readonly replid2: string
  readonly secondOffset: number
  /** Offset of this process: written by a primary, received by a replica. */
  readonly offset: number
  /** Replicas known to a primary. */
  readonly replicas: readonly AttachedReplica[]
}

export interface AttachedReplica {
  readonly host: string
  readonly port: number
  readonly online: boolean
  /** Last acknowledged offset; 0 while the stream is delayed after a full sync (measured: up to 1 s). */
  readonly offset: number
}

/** Reads INFO replication; even Valkey still writes `master` and `slave`. Throws for another text. */
export function readReplication(text: string): ReplicationInfo {
  return replicationIn(readInfo(text))
}

/** Like readReplication, from the fields of an INFO text with that section. */
export function replicationIn(fields: InfoFields): ReplicationInfo {
  const role = fields['role']
  if (role !== 'master' && role !== 'slave')
    throw new Error(
      `INFO replication names no role: ${printable(Object.keys(fields).slice(0, 5).join(', '), 200)}`,
    )
  const isReplica = role === 'slave'
  return {
    role: isReplica ? 'replica' : 'primary',
    primary: isReplica ? { host: fields['master_host'] ?? '', port: numberOf(fields, 'master_port') } : null,
    link: fields['master_link_status'] === 'up' ? 'up' : 'down',
    syncing: fields['master_sync_in_progress'] === '1',
    replid: fields['master_replid'] ?? '',
    replid2: fields['master_replid2'] ?? '',
    secondOffset: numberOf(fields, 'second_repl_offset'),
    offset: isReplica ? replicaOffset(fields) : numberOf(fields, 'master_repl_offset'),
    replicas: [...numbered(fields, 'slave')].map(readAttachedReplica),
  }
}

/** Yields the values of "slave0", "slave1" and so on: engines number them without gaps. */
function* numbered(fields: InfoFields, name: string): Generator<string> {
  for (let n = 0; ; n += 1) {
    const value = fields[`${name}${n}`]
    if (value === undefined) return
    yield value
  }
}

/** slave_repl_offset is the received one; on a broken link it is 0 or old, unlike master_repl_offset. */
function replicaOffset(fields: InfoFields): number {
  return Math.max(numberOf(fields, 'slave_repl_offset'), numberOf(fields, 'master_repl_offset'))
}

/** "ip=127.0.0.1,port=7002,state=online,offset=14,lag=0,type=replica" */
function readAttachedReplica(value: string): AttachedReplica {
  const parts: Readonly<Record<string, string>> = Object.fromEntries(
    value.split(',').map((part): [string, string] => {
      const equals = part.indexOf('=')
      return [part.slice(0, equals), part.slice(equals + 1)]
    }),
  )
  return {
    host: parts['ip'] ?? '',
    port: numberOf(parts, 'port'),
    online: parts['state'] === 'online',
    offset: numberOf(parts, 'offset'),
  }
}

/** Returns 0 for an invalid number, or one larger than any count of bytes, keys or time. */
export function numberOf(fields: InfoFields, name: string): number {
  const value = Number(fields[name] ?? 0)
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : 0
}
