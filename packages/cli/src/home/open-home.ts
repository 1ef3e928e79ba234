import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'

/** Permissions of the owner's group and of others. */
const OTHERS = 0o077

/**
 * Makes FAIRLEAD_HOME a folder that only this user can enter, since it holds all databases' passwords. Closes
 * an existing folder (made by hand, or a mount) that is open to others, and logs that, also if others could
 * replace it. Throws if it belongs to another user, who could open it again.
 */
export function openHome(home: string, log: Logger): void {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const { uid, mode } = statSync(home)
  const self = process.getuid?.() ?? uid
  if (uid !== self)
    throw new Error(
      `FAIRLEAD_HOME ${home} belongs to user ${uid}, and Fairlead runs as user ${self}: run it as user ${uid}, or give the folder with all that is in it to user ${self} (chown -R ${self})`,
    )
  const parent = findOpenParent(home)
  if (parent !== undefined)
    log.warn(
      { home, ...parent },
      `${parent.by} can replace FAIRLEAD_HOME with another folder, and so its sockets, to which Fairlead sends passwords: ${parent.folder} is theirs to write; choose a FAIRLEAD_HOME of which each folder above it belongs to root or to user ${self}`,
    )
  if ((mode & OTHERS) === 0) return
  chmodSync(home, 0o700)
  const was = (mode & 0o777).toString(8)
  if (existsSync(join(home, 'store.db')))
    log.warn(
      { home, was },
      'other users of this machine could enter FAIRLEAD_HOME and read what they could find in it; its mode is 700 now',
    )
  else
    log.info(
      { home, was },
      'other users could enter FAIRLEAD_HOME, which holds no store yet; its mode is 700 now',
    )
}

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
/** In a sticky folder, only the owner of a file may move or replace it. */
const STICKY = 0o1000

/** A parent folder that lets other users replace the folder below. */
interface OpenParent {
  readonly folder: string
  /** A phrase: "user 1000", "all users", "group 100". */
  readonly by: string
}

/**
 * Finds the nearest folder above that lets other users replace a part of the path: processes with sockets in
 * it would then speak to a foreign process. Root and this user's own group are trusted. Undefined: none.
 */
function findOpenParent(path: string): OpenParent | undefined {
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
