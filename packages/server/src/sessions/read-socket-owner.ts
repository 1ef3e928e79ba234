import { readFile } from 'node:fs/promises'
import { setImmediate as others } from 'node:timers/promises'
import { createTurns } from '@fairlead/engine'

/** A connection as its other end sees it: from `address` and `port`, to ours. */
export interface PeerSocket {
  readonly address: string
  readonly port: number
  readonly toAddress: string
  readonly toPort: number
}

/**
 * The number of the operating system's user whose process holds this end of a connection on the loopback
 * interface. `nobody`: no process holds it any more. `untold`: this system does not tell.
 */
export type ReadOwner = (socket: PeerSocket) => Promise<number | 'nobody' | 'untold'>

const tables = ['/proc/net/tcp', '/proc/net/tcp6'] as const
/** How many lines are looked at without a pause: some tenths of a millisecond. */
const LINES_AT_ONCE = 2_000

/** By pairs of places, as the tables write them. */
type Owners = ReadonlyMap<string, number | 'nobody'>

/**
 * Reads the kernel's tables, which take as long as there are connections: at most once at a time, for all that ask meanwhile. Any user
 * may have tens of thousands of connections, and thousands may ask at once: each line is looked at once for all of them.
 */
export function readSocketOwner(read: () => Promise<readonly string[]> = readTables): ReadOwner {
  const inTurn = createTurns()
  let next: { readonly wanted: Set<string>; readonly reading: Promise<Owners> } | undefined
  const plan = () => {
    const wanted = new Set<string>()
    const reading = inTurn(async () => {
      next = undefined // calls from now on may be later than the tables that are read
      return findOwners(await read(), wanted)
    })
    return { wanted, reading }
  }
  return async (socket) => {
    const pairs = pairsOf(socket)
    next ??= plan()
    for (const pair of pairs) next.wanted.add(pair)
    try {
      const owners = await next.reading
      return pairs.map((pair) => owners.get(pair)).find((owner) => owner !== undefined) ?? 'nobody'
    } catch {
      return 'untold' // no such tables here
    }
  }
}

async function readTables(): Promise<readonly string[]> {
  return Promise.all(tables.map((table) => readFile(table, 'latin1')))
}

async function findOwners(texts: readonly string[], wanted: ReadonlySet<string>): Promise<Owners> {
  const owners = new Map<string, number | 'nobody'>()
  let lines = 0
  for (const text of texts) {
    for (let from = 0; from < text.length; ) {
      const end = text.indexOf('\n', from)
      const line = text.slice(from, end === -1 ? undefined : end)
      const at = line.indexOf(': ') + 2
      const pair = line.slice(at, line.indexOf(' ', line.indexOf(' ', at) + 1))
      if (wanted.has(pair) && !owners.has(pair)) owners.set(pair, ownerIn(line))
      from += line.length + 1
      lines += 1
      if (lines % LINES_AT_ONCE === 0) await others()
    }
  }
  return owners
}

/** A socket that its process has closed belongs to none: the kernel then says user 0. */
function ownerIn(line: string): number | 'nobody' {
  const [, , , , , , , uid, , inode] = line.trim().split(/\s+/)
  return inode === '0' || inode === undefined ? 'nobody' : Number(uid)
}

function pairsOf({ address, port, toAddress, toPort }: PeerSocket): readonly string[] {
  return placesOf(address, port).flatMap((from) => placesOf(toAddress, toPort).map((to) => `${from} ${to}`))
}

/** As the tables write an address and its port: hexadecimal, words of 32 bits in this machine's order; IPv4 also within IPv6. */
function placesOf(address: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address
  if (plain === '::1') return [`${'0'.repeat(24)}01000000${suffix}`]
  const bytes = plain.split('.').map((part) => Number(part).toString(16).toUpperCase().padStart(2, '0'))
  const word = bytes.toReversed().join('')
  return [`${word}${suffix}`, `0000000000000000FFFF0000${word}${suffix}`]
}
