import type { EngineAddress } from './engine-address.ts'
import { printable } from './printable.ts'

/** A thousand nodes, with each of 16,384 slots separate. */
const LONGEST_LIST = 500_000

/** A line of CLUSTER NODES: a node as the asked node knows it. */
export interface ClusterNodeInfo {
  readonly id: string
  readonly address: EngineAddress
  /** Bus port. `address` may have no port, or the TLS port, until the node was heard. */
  readonly busPort: number
  /** True for the asked node. Its address may be empty until it has met others. */
  readonly myself: boolean
  /** True if it was just introduced: the id is not its real one yet. */
  readonly handshake: boolean
  /** Id of the node that it follows; null for a primary. */
  readonly primary: string | null
  readonly epoch: number
  /** Ranges of slots, in order: "0-5460 7000". */
  readonly slots: string
  /** Slots that are migrating to another node, and its id. Only the asked node reports its own. */
  readonly leaving: readonly { readonly slot: number; readonly to: string }[]
}

/**
 * Reads CLUSTER NODES, one node per line: `<id> <ip:port@bus[,hostname,…]> <flags> <primary> <ping> <pong>
 * <epoch> <link> <slot> …`. The same on Redis 6 to 8 and Valkey 8 to 9. Throws if the list is longer than any
 * cluster's.
 */
export function readClusterNodes(text: string): readonly ClusterNodeInfo[] {
  if (text.length > LONGEST_LIST) throw new Error(`a list of nodes of ${text.length} characters is not read`)
  return (
    isPlain(text)
      ? text
      : text
          .split('\n')
          .map((line) => printable(line, LONGEST_LIST))
          .join('\n')
  )
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [id = '', place = '', flags = '', primary = '-', , , epoch = '0', , ...slots] = line
        .trim()
        .split(' ')
      const words = flags.split(',')
      return {
        id,
        address: readPlace(place),
        busPort: numberIn(/@(\d+)/.exec(place)?.[1] ?? '0'),
        myself: words.includes('myself'),
        handshake: words.includes('handshake'),
        primary: primary === '-' ? null : primary,
        epoch: numberIn(epoch),
        slots: slots.filter((slot) => !slot.startsWith('[')).join(' '),
        leaving: slots.flatMap(readLeaving),
      }
    })
}

/** "[93->-<id>]"; the arrow of an arriving slot has the opposite direction. */
function readLeaving(word: string) {
  const [, slot, to] = /^\[(\d+)->-([0-9a-f]+)\]$/.exec(word) ?? []
  return slot === undefined || to === undefined ? [] : [{ slot: Number(slot), to }]
}

/** "127.0.0.1:7001@17001,host,shard-id=…"; IPv6 hosts contain colons. */
function readPlace(place: string): EngineAddress {
  const [address = ''] = place.split(/[@,]/)
  const colon = address.lastIndexOf(':')
  return { host: address.slice(0, colon), port: numberIn(address.slice(colon + 1)) }
}

function numberIn(text: string): number {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : 0
}

function isPlain(text: string): boolean {
  return !/[^\x20-\x7e\r\n]/.test(text)
}
