import { open } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { endianness } from 'node:os'
import type { EngineAddress } from './engine-address.ts'
import { createTurns } from './process/create-turns.ts'

/** A TCP socket that listens, as the kernel tells of it. */
export interface Listener {
  /** The user that made it: a process cannot make one in the name of another user. */
  readonly uid: number
  /** Its own for as long as it is open. */
  readonly inode: number
}

/** By their places, as the kernel writes them. */
type Found = ReadonlyMap<string, readonly Listener[]>

/** After a place in /proc/net/tcp: the other's, state (0A: it listens), queues, timers, uid, timeout, inode. */
const REST = /^ \S+ 0A \S+ \S+ \S+ +(\d+) +\d+ (\d+) /
const LISTENS = '0A'
/** The kernel gives a page or so at a time, however much is asked for. */
const CHUNK_BYTES = 64 * 1024
/** An address in hexadecimal, a colon and the port. */
const PLACE_LENGTH = { 4: 13, 6: 37 }

const readTables = {
  4: shareReadings((wanted) => readTable('/proc/net/tcp', createCollector(4, wanted))),
  6: shareReadings((wanted) => readTable('/proc/net/tcp6', createCollector(6, wanted))),
}

/**
 * Which sockets of this machine listen at an address (an IP address, or localhost), at a moment after the call: none, one, or several of one
 * user that share it. Throws when the kernel does not tell.
 *
 * Any user may have tens of thousands of listeners: the work is in proportion to them, and done in pieces of some microseconds.
 */
export async function readListeners({ host, port }: EngineAddress): Promise<readonly Listener[]> {
  const ip = host === 'localhost' ? '127.0.0.1' : host
  const places = placesOf(ip, port)
  const found = await readTables[isIPv6(ip) ? 6 : 4](places)
  return places.flatMap((place) => found.get(place) ?? [])
}

/** As the kernel writes this IP address with this port, and all addresses of its kind with it. */
export function placesOf(ip: string, port: number): readonly string[] {
  const own = hexOf(ip)
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return [...new Set([own, '0'.repeat(own.length)])].map((address) => `${address}${suffix}`)
}

/** As the kernel prints an address: in words of 32 bits, each as this machine keeps a number. */
function hexOf(host: string): string {
  const bytes = isIPv6(host) ? bytesOfIPv6(host) : host.split('.').map(Number)
  const words = Array.from({ length: bytes.length / 4 }, (_, n) => bytes.slice(n * 4, n * 4 + 4))
  return words
    .flatMap((word) => (endianness() === 'LE' ? word.toReversed() : word))
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
}

function bytesOfIPv6(host: string): readonly number[] {
  const [head = '', tail] = host.split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
  const [front, back] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0')
  return [...front, ...zeros, ...back]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((n) => [n >> 8, n & 255])
}

/** Collects from a table, as its text comes, what listens at places that are wanted. */
export interface Collector {
  readonly found: Found
  /** Takes the next piece of text. Returns whether more listeners may follow: the kernel lists connections last, and there may be many. */
  take(piece: string): boolean
}

/**
 * Collects listeners from the text of /proc/net/tcp or tcp6 (`version` 4 or 6), which may come in pieces cut
 * anywhere.
 */
export function createCollector(kind: 4 | 6, wanted: ReadonlySet<string>): Collector {
  const found = new Map<string, Listener[]>()
  const length = PLACE_LENGTH[kind]
  let unfinished = ''
  /** Whether the line is of one that listens. The place is looked at before anything else: of most lines nothing more is. */
  const takeLine = (line: string): boolean => {
    const at = line.indexOf(': ') + 2
    if (at === 1) return true // the headline
    const state = at + 2 * (length + 1)
    if (!line.startsWith(LISTENS, state)) return false
    const place = line.slice(at, at + length)
    if (!wanted.has(place)) return true
    const [, uid, inode] = REST.exec(line.slice(at + length)) ?? []
    if (uid === undefined) return true
    const before = found.get(place) ?? []
    before.push({ uid: Number(uid), inode: Number(inode) }) // in place: of these, too, there may be many
    found.set(place, before)
    return true
  }
  return {
    found,
    take(piece) {
      const text = unfinished + piece
      let from = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        if (!takeLine(text.slice(from, end))) return false
        from = end + 1
      }
      unfinished = text.slice(from)
      return true
    },
  }
}

async function readTable(path: string, collector: Collector): Promise<Found> {
  await using file = await open(path, 'r')
  const buffer = Buffer.alloc(CHUNK_BYTES)
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null)
    if (bytesRead === 0 || !collector.take(buffer.toString('latin1', 0, bytesRead))) return collector.found
  }
}

/**
 * One reading for all callers that ask before it begins, each for its places: each gets what was true after
 * it asked.
 */
function shareReadings(
  read: (wanted: ReadonlySet<string>) => Promise<Found>,
): (places: readonly string[]) => Promise<Found> {
  const inTurn = createTurns()
  let next: { readonly wanted: Set<string>; readonly reading: Promise<Found> } | null = null
  const plan = () => {
    const wanted = new Set<string>()
    const reading = inTurn(() => {
      next = null
      return read(wanted)
    })
    return { wanted, reading }
  }
  return (places) => {
    next ??= plan()
    for (const place of places) next.wanted.add(place)
    return next.reading
  }
}
