import { open } from 'node:fs/promises'
import { setImmediate as others } from 'node:timers/promises'

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
const CHUNK_BYTES = 64 * 1024
/** A line of a connection: its port, the other end's port, its user, and that it has a process. */
const LINE = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) 01 \S+ \S+ \S+ +(\d+) +\d+ (?!0 )\d+ /

/**
 * Returns the users of processes that are connected to ports of this machine, by the port at their end.
 * Connections to other addresses with such a port are included; empty if the kernel hides them. Reads in
 * pieces, because any user may have tens of thousands of connections.
 */
export async function readPeerUsers(to: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const users = new Map<number, number>()
  const wanted = new Set(to.map((port) => port.toString(16).toUpperCase().padStart(4, '0')))
  for (const table of TABLES)
    await readLines(table, (line) => {
      const [, own = '', other = '', uid] = LINE.exec(line) ?? []
      if (wanted.has(other)) users.set(Number.parseInt(own, 16), Number(uid))
    })
  return users
}

async function readLines(path: string, take: (line: string) => void): Promise<void> {
  await using file = await open(path, 'r').catch(() => null)
  if (file === null) return
  const buffer = Buffer.alloc(CHUNK_BYTES)
  let unfinished = ''
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null)
    if (bytesRead === 0) return
    const lines = (unfinished + buffer.toString('latin1', 0, bytesRead)).split('\n')
    unfinished = lines.pop() ?? ''
    for (const line of lines) take(line)
    await others()
  }
}
