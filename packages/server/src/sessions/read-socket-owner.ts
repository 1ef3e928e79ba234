import { readFile } from 'node:fs/promises'

/** A connection as its other end sees it: from `address` and `port`, to ours. */
export interface PeerSocket {
  readonly address: string
  readonly port: number
  readonly toAddress: string
  readonly toPort: number
}

/**
 * The number of the operating system's user whose process holds this end of a connection on the loopback interface. `nobody`: no
 * process holds it any more. `untold`: this system does not tell.
 */
export type ReadOwner = (socket: PeerSocket) => Promise<number | 'nobody' | 'untold'>

const tables = ['/proc/net/tcp', '/proc/net/tcp6'] as const

/** Reads the kernel's tables, which take as long as there are connections: at most once at a time, for all that ask meanwhile. */
export function readSocketOwner(read: () => Promise<readonly string[]> = readTables): ReadOwner {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<readonly string[]> | undefined
  const readNext = () => {
    next ??= running.then(() => {
      next = undefined // who asks from now on may be later than what is read
      const reading = read()
      running = reading.catch(() => undefined)
      return reading
    })
    return next
  }
  return async (socket) => {
    try {
      return findOwner(await readNext(), socket)
    } catch {
      return 'untold' // no such tables here
    }
  }
}

async function readTables(): Promise<readonly string[]> {
  return Promise.all(tables.map((table) => readFile(table, 'latin1')))
}

function findOwner(texts: readonly string[], { address, port, toAddress, toPort }: PeerSocket) {
  const pairs = placesOf(address, port).flatMap((from) =>
    placesOf(toAddress, toPort).map((to) => ` ${from} ${to} `),
  )
  for (const text of texts) {
    for (const pair of pairs) {
      const at = text.indexOf(pair) // there may be tens of thousands of lines
      if (at === -1) continue
      const end = text.indexOf('\n', at)
      const [, , , , , , uid, , inode] = text
        .slice(at, end === -1 ? undefined : end)
        .trim()
        .split(/\s+/)
      // A socket that its process has closed belongs to none: the kernel then says user 0.
      return inode === '0' || inode === undefined ? 'nobody' : Number(uid)
    }
  }
  return 'nobody'
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
