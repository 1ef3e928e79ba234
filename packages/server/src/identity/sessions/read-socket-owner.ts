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

/** Connections over IPv4 are in the first; in the second, those over IPv6 and of sockets that speak both. */
const tables = ['/proc/net/tcp', '/proc/net/tcp6'] as const
/** How many lines are looked at without a pause: some tenths of a millisecond. */
const LINES_AT_ONCE = 2_000

/** The ways in which the tables may write one connection. */
type Pairs = readonly string[]
/** By pairs of places, as the tables write them. */
type Owners = ReadonlyMap<string, number | 'nobody'>

/**
 * Reads the kernel's tables, which take as long as there are connections: at most once at a time, for all that ask meanwhile. Any user
 * may have tens of thousands of connections, and thousands may ask at once: each line is looked at once for all of them. Each table takes the
 * kernel some milliseconds of a processor even if it is empty (4 were measured): the second is read only for what is not in the first.
 */
export function readSocketOwner(read: (table: string) => Promise<string> = readTable): ReadOwner {
  const inTurn = createTurns()
  let next: { readonly wanted: Set<Pairs>; readonly reading: Promise<Owners> } | undefined
  const plan = () => {
    const wanted = new Set<Pairs>()
    const reading = inTurn(async () => {
      next = undefined // calls from now on may be later than the tables that are read
      return readOwners(read, wanted)
    })
    return { wanted, reading }
  }
  return async (socket) => {
    const pairs = pairsOf(socket)
    next ??= plan()
    next.wanted.add(pairs)
    try {
      const owners = await next.reading
      return ownerOf(pairs, owners) ?? 'nobody'
    } catch {
      return 'untold' // no such tables here
    }
  }
}

function readTable(table: string): Promise<string> {
  return readFile(table, 'latin1')
}

async function readOwners(
  read: (table: string) => Promise<string>,
  wanted: ReadonlySet<Pairs>,
): Promise<Owners> {
  const owners = new Map<string, number | 'nobody'>()
  for (const table of tables) {
    const missing = [...wanted].filter((pairs) => ownerOf(pairs, owners) === undefined)
    if (missing.length > 0) await findOwners(await read(table), new Set(missing.flat()), owners)
  }
  return owners
}

/** Puts the owners of the `wanted` pairs that are in a table into `owners`. */
async function findOwners(
  text: string,
  wanted: ReadonlySet<string>,
  owners: Map<string, number | 'nobody'>,
): Promise<void> {
  let lines = 0
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

function ownerOf(pairs: Pairs, owners: Owners): number | 'nobody' | undefined {
  return pairs.map((pair) => owners.get(pair)).find((owner) => owner !== undefined)
}

/** A socket that its process has closed belongs to none: the kernel then says user 0. */
function ownerIn(line: string): number | 'nobody' {
  const [, , , , , , , uid, , inode] = line.trim().split(/\s+/)
  return inode === '0' || inode === undefined ? 'nobody' : Number(uid)
}

function pairsOf({ address, port, toAddress, toPort }: PeerSocket): Pairs {
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
