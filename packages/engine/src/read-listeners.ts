import { open } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { endianness } from 'node:os'
import type { EngineAddress } from './engine-address.ts'
import { createMutex } from './process/create-mutex.ts'

/** A listening TCP socket, from the kernel. */
export interface Listener {
  /** User that made it: a process cannot make one in another user's name. */
  readonly uid: number
  /** Unique while it is open. */
  readonly inode: number
}

/** Listeners by their places, as written by the kernel. */
type Found = ReadonlyMap<string, readonly Listener[]>

/** After a place in /proc/net/tcp: peer, state (0A: it listens), queues, timers, uid, timeout, inode. */
const REST = /^ \S+ 0A \S+ \S+ \S+ +(\d+) +\d+ (\d+) /
const LISTENS = '0A'
/** The kernel returns about one page at a time, whatever is requested. */
const CHUNK_BYTES = 64 * 1024
/** An address in hexadecimal, a colon and the port. */
const PLACE_LENGTH = { 4: 13, 6: 37 }

const readTables = {
  4: shareReadings((wanted) => readTable('/proc/net/tcp', createCollector(4, wanted))),
  6: shareReadings((wanted) => readTable('/proc/net/tcp6', createCollector(6, wanted))),
}

/**
 * Finds this machine's sockets that listen at an address (an IP address, or localhost), some time after the
 * call: none, one, or several of one user that share it. Throws if the kernel hides them. Any user may have
 * tens of thousands of listeners: the work is proportional to them, in pieces of some µs.
 */
export async function readListeners({ host, port }: EngineAddress): Promise<readonly Listener[]> {
  const ip = host === 'localhost' ? '127.0.0.1' : host
  const places = placesOf(ip, port)
  const found = await readTables[isIPv6(ip) ? 6 : 4](places)
  return places.flatMap((place) => found.get(place) ?? [])
}

/** Returns the kernel's form of this IP address and port, and of all its kind's addresses with that port. */
export function placesOf(ip: string, port: number): readonly string[] {
  const own = hexOf(ip)
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return [...new Set([own, '0'.repeat(own.length)])].map((address) => `${address}${suffix}`)
}

/** Returns the kernel's form of an address: words of 32 bits, in this machine's byte order. */
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

/** Collects listeners at wanted places from a table's text, in pieces. */
export interface Collector {
  readonly found: Found
  /** Takes the next piece of text. False if no more listeners follow: many connections are listed last. */
  take(piece: string): boolean
}

/** Creates a collector for the text of /proc/net/tcp or tcp6 (`kind` 4 or 6), split anywhere. */
export function createCollector(kind: 4 | 6, wanted: ReadonlySet<string>): Collector {
  const found = new Map<string, Listener[]>()
  const length = PLACE_LENGTH[kind]
  let unfinished = ''
  /** True for a line of a listener. It checks the place first, which suffices for most lines. */
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

/** Shares one reading among all callers before its begin: each gets a state later than its call. */
function shareReadings(
  read: (wanted: ReadonlySet<string>) => Promise<Found>,
): (places: readonly string[]) => Promise<Found> {
  const runExclusive = createMutex()
  let next: { readonly wanted: Set<string>; readonly reading: Promise<Found> } | null = null
  const plan = () => {
    const wanted = new Set<string>()
    const reading = runExclusive(() => {
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
