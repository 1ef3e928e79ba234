import { isIP } from 'node:net'
import type { Peer, Requester } from '../../core/identity/access.ts'
import { type ReadOwner, readSocketOwner } from './read-socket-owner.ts'

/** Where a requester comes from, as logins are counted by. */
export type SourceOf = (requester: Requester) => Promise<string>

/** A local process that cannot be told from others. No user is known from there. */
export const UNKNOWN_LOCAL = 'local'

/**
 * The address of a requester, or its network where that is what one machine has (IPv6: /64). All processes of a machine share its
 * loopback addresses: there it is the operating system's user whose process holds the connection, where the system tells.
 */
export function createSources(ownerOf: ReadOwner = readSocketOwner()): SourceOf {
  // Asking the kernel takes some milliseconds of a processor. A socket keeps the user that made it for as
  // long as it is open.
  const known = new WeakMap<Peer, number>()
  return async ({ address, peer }) => {
    const source = addressSource(address)
    if (source !== undefined) return source
    const plain = withoutMapping(address)
    if (peer === undefined) return plain
    const owner = known.get(peer) ?? (await ownerOf({ address: plain, ...peer }))
    if (typeof owner === 'number') known.set(peer, owner)
    if (owner === 'untold') return plain
    return owner === 'nobody' ? UNKNOWN_LOCAL : `local user ${owner}`
  }
}

/** The address, or its network; undefined for the addresses that all processes of this machine share. */
export function addressSource(address: string): string | undefined {
  const plain = withoutMapping(address)
  if (isLoopback(plain)) return undefined
  return isIP(plain) === 6 ? networkOf(plain) : plain
}

function withoutMapping(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/** The first 64 of 128 bits. */
function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after]
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
