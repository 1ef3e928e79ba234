import { isIP } from 'node:net'

/**
 * Returns the source of a request, by which failed logins are counted: its address, or the network (/64) of
 * an IPv6 address, because one machine may have all of it. All loopback addresses are one source.
 */
export function sourceOf(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address
  if (plain === '::1' || plain.startsWith('127.')) return '127.0.0.1'
  return isIP(plain) === 6 ? networkOf(plain) : plain
}

/** Returns the first 64 of 128 bits. */
function networkOf(address: string): string {
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::')
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
