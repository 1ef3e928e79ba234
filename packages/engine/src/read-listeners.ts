import { open } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { endianness } from 'node:os'
import type { EngineAddress } from './connection.ts'

/** A TCP socket that listens, as the kernel tells of it. */
export interface Listener {
  /** The user who made it: a process cannot make one in the name of another user. */
  readonly uid: number
  /** Its own for as long as it is open. */
  readonly inode: number
}

/** A line of /proc/net/tcp: its own address, the other's, state (0A: it listens), queues, timers, uid, timeout, inode. */
const LINE = /^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) \S+ \S+ \S+ +(\d+) +\d+ (\d+) /
const LISTENS = '0A'
const CHUNK_BYTES = 16 * 1024

const readTables = {
  4: shareReads(() => readHead('/proc/net/tcp')),
  6: shareReads(() => readHead('/proc/net/tcp6')),
}

/**
 * Which sockets of this machine listen at an address (an IP address, or localhost), at a moment after the call: none, one, or several of one
 * user that share it. Throws when the kernel does not tell.
 */
export async function readListeners({ host, port }: EngineAddress): Promise<readonly Listener[]> {
  const ip = host === 'localhost' ? '127.0.0.1' : host
  return parseListeners(await readTables[isIPv6(ip) ? 6 : 4](), { host: ip, port })
}

/** Of the text of /proc/net/tcp, or tcp6, those that listen at this IP address or at all of its kind. */
export function parseListeners(text: string, { host, port }: EngineAddress): readonly Listener[] {
  const own = hexOf(host)
  return text.split('\n').flatMap((line) => {
    const [, at = '', portHex = '', state, uid, inode] = LINE.exec(line) ?? []
    const isHere = Number.parseInt(portHex, 16) === port && (at === own || /^0+$/.test(at))
    return isHere && state === LISTENS ? [{ uid: Number(uid), inode: Number(inode) }] : []
  })
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

/** The kernel tells first of what listens; of connections there may be tens of thousands. */
async function readHead(path: string): Promise<string> {
  await using file = await open(path, 'r')
  const buffer = Buffer.alloc(CHUNK_BYTES)
  let text = ''
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null)
    text += buffer.toString('latin1', 0, bytesRead)
    const isOver = text.split('\n').some((line) => (LINE.exec(line)?.[3] ?? LISTENS) !== LISTENS)
    if (bytesRead === 0 || isOver) return text
  }
}

/** One read for all who ask before it begins: each hears what was so after it asked. */
function shareReads(read: () => Promise<string>): () => Promise<string> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<string> | null = null
  return () => {
    next ??= last.then(() => {
      next = null
      const reading = read()
      last = reading.catch(() => undefined)
      return reading
    })
    return next
  }
}
