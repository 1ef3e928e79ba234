import { createHash } from 'node:crypto'

/** Returns the SHA-256 of a password (hex), as engines keep it: `ACL SETUSER name #digest`. */
export function passwordDigest(password: string | Buffer): string {
  return createHash('sha256').update(password).digest('hex')
}

/** Names a list of digests, in any order, without revealing them. */
export function passwordsMark(digests: readonly string[]): string {
  return passwordDigest([...digests].toSorted().join(' '))
}
