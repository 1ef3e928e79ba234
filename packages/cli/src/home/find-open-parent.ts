import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
/** In a sticky folder, only the owner of a file may move or replace it. */
const STICKY = 0o1000

/** A parent folder that lets other users replace the folder below. */
export interface OpenParent {
  readonly folder: string
  /** A phrase: "user 1000", "all users", "group 100". */
  readonly by: string
}

/**
 * Finds the nearest folder above that lets other users replace a part of the path: processes with sockets in
 * it would then speak to a foreign process. Root and this user's own group are trusted. Undefined: none.
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
