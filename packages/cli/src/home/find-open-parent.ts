import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
/** In such a folder only the owner of a file moves or replaces it. */
const STICKY = 0o1000

/** A folder above another one, in which other users can put another folder in its place. */
export interface OpenParent {
  readonly folder: string
  /** A phrase: "user 1000", "all users", "group 100". */
  readonly by: string
}

/**
 * The nearest folder above this one that gives other users this power, at any moment: processes that speak over sockets in it would then speak to a
 * process of theirs. Undefined: there is none. Root is trusted, and so is the own group of this user.
 */
export function findOpenParent(path: string): OpenParent | undefined {
  const trusted = [0, process.getuid?.() ?? 0]
  for (let folder = dirname(realpathSync(path)); ; folder = dirname(folder)) {
    const { uid, gid, mode } = statSync(folder)
    if (!trusted.includes(uid)) return { folder, by: `user ${uid}` }
    if ((mode & STICKY) === 0) {
      if ((mode & OTHERS_WRITE) !== 0) return { folder, by: 'all users' }
      const isOwnGroup = gid === 0 || gid === process.getgid?.()
      if ((mode & GROUP_WRITES) !== 0 && !isOwnGroup) return { folder, by: `group ${gid}` }
    }
    if (folder === dirname(folder)) return undefined
  }
}
