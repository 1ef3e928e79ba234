import type { EngineAddress } from './engine-address.ts'
import { printable } from './printable.ts'

/** The fields of an INFO text, by name. Section headings are dropped: no field name occurs twice. Values are printable, and short. */
export type InfoFields = Readonly<Record<string, string>>

/** Some ten thousand are usual. Redis before 7.2 has a line for each kind of error that scripts have made up. */
const LONGEST_INFO = 2_000_000
const LONGEST_VALUE = 500

/** Throws when the text is longer than any that an engine would tell of itself. */
export function readInfo(text: string): InfoFields {
  checkLength(text)
  // Nearly always: then no line is looked at for it.
  const isPlain = !/[^\x20-\x7e\r\n\t]/.test(text)
  // The hottest text of the control plane: one pass, and no array per line.
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

/** Only the fields `names` of an INFO text, with the values that `readInfo` gives; missing fields are left out. If few fields are wanted, this is a tenth of the work. */
export function pickInfo(text: string, names: readonly string[]): InfoFields {
  checkLength(text)
  return readInfo(names.map((name) => lineOf(text, name)).join('\n'))
}

function checkLength(text: string): void {
  if (text.length > LONGEST_INFO) throw new Error(`INFO of ${text.length} characters is not read`)
}

/** Empty where there is none. */
function lineOf(text: string, name: string): string {
  const start = text.startsWith(`${name}:`) ? 0 : text.indexOf(`\n${name}:`) + 1
  if (start === 0 && !text.startsWith(`${name}:`)) return ''
  const end = text.indexOf('\n', start)
  return text.slice(start, end === -1 ? undefined : end)
}

/** The replication state of one process, from INFO replication. Offsets are bytes of the replication stream. */
export interface ReplicationInfo {
  readonly role: 'primary' | 'replica'
  /** Of a replica: the primary that it follows. */
  readonly primary: EngineAddress | null
  /** Of a replica: does the stream flow? A primary has no link. */
  readonly link: 'up' | 'down'
  /** Of a replica: a full sync is being received. */
  readonly syncing: boolean
  readonly replid: string
  /** The history it took part in before its last promotion, valid up to `secondOffset` - 1. */
  readonly replid2: string
  readonly secondOffset: number
  /** How far this process is: written, as a primary; received, as a replica. */
  readonly offset: number
  /** Of a primary: the replicas it knows. */
  readonly replicas: readonly AttachedReplica[]
}

export interface AttachedReplica {
  readonly host: string
  readonly port: number
  readonly online: boolean
  /** Last acknowledged offset; 0 while the stream is held back after a full sync (measured: up to 1 s). */
  readonly offset: number
}

/**
 * Reads INFO replication. The engines still say `master` and `slave`, valkey included. Throws when the text is not an answer of
 * INFO replication.
 */
export function readReplication(text: string): ReplicationInfo {
  return replicationIn(readInfo(text))
}

/** The same, from the fields of an INFO text that has that section among others. */
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

/** The values of "slave0", "slave1" and so on: engines number them without a gap. */
function* numbered(fields: InfoFields, name: string): Generator<string> {
  for (let n = 0; ; n += 1) {
    const value = fields[`${name}${n}`]
    if (value === undefined) return
    yield value
  }
}

/** slave_repl_offset is what arrived; with a broken link it is 0 or old, and master_repl_offset keeps the history. */
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

/** 0 for what is no number, or one that no byte, key or time is counted up to. */
export function numberOf(fields: InfoFields, name: string): number {
  const value = Number(fields[name] ?? 0)
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : 0
}
