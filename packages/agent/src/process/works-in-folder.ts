import { type BigIntStats, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { isOurUser } from '@fairlead/engine'
import { readOrNull } from './read-or-null.ts'

/** Identifies a folder: any user may have another folder at the same path, in a file system that only that user's processes see. */
export type FolderId = Pick<BigIntStats, 'dev' | 'ino'>

export interface ProcessPlace {
  readonly uid: number
  /** The folder that it works in. */
  readonly cwd: FolderId
  /** What we find at the path of that folder. */
  readonly ours: FolderId
}

/**
 * Does a process belong to a folder of ours? Yes if its user is ours, an engine's, the proxy's or the
 * folder's owner, and it works in the very folder (device and inode) that we find there. A process chooses
 * freely what it calls itself and its folders.
 */
export function isProcessOf(owner: number, { uid, cwd, ours }: ProcessPlace): boolean {
  return mayBeOurs(owner, uid) && cwd.dev === ours.dev && cwd.ino === ours.ino
}

/** Tells of a process whether it works in the folder at this path or below, by its pid; null when there is no folder. */
export function openOwnFolder(path: string): ((pid: number) => boolean) | null {
  const folder = readOrNull(() => realpathSync(path))
  const owner = folder === null ? null : readOrNull(() => lstatSync(folder).uid)
  if (folder === null || owner === null) return null
  return (pid) => {
    // First what the kernel says: a folder of another user may be in a file system that never answers.
    const uid = readOrNull(() => statSync(`/proc/${pid}`).uid)
    if (uid === null || !mayBeOurs(owner, uid)) return false
    const name = readOrNull(() => readlinkSync(`/proc/${pid}/cwd`))
    if (name === null || (name !== folder && !name.startsWith(`${folder}/`))) return false
    const cwd = readOrNull(() => statSync(`/proc/${pid}/cwd`, { bigint: true }))
    const ours = readOrNull(() => lstatSync(name, { bigint: true }))
    return cwd !== null && ours !== null && isProcessOf(owner, { uid, cwd, ours })
  }
}

function mayBeOurs(owner: number, uid: number): boolean {
  return isOurUser(uid) || uid === owner
}
