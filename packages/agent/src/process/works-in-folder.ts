import { type BigIntStats, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { isOurUser } from '@fairlead/engine'
import { readOrNull } from './read-or-null.ts'

/** Identifies a folder: users may have another folder at the same path in a private file system. */
export type FolderId = Pick<BigIntStats, 'dev' | 'ino'>

export interface ProcessPlace {
  readonly uid: number
  /** Working folder of the process. */
  readonly cwd: FolderId
  /** Folder that we find at that path. */
  readonly ours: FolderId
}

/**
 * True if a process belongs to a folder of ours: its user is ours, an engine's, the proxy's or the folder's
 * owner, and its working folder is the one that we find there (device and inode). A process can choose its
 * name and those of its folders freely.
 */
export function isProcessOf(owner: number, { uid, cwd, ours }: ProcessPlace): boolean {
  return mayBeOurs(owner, uid) && cwd.dev === ours.dev && cwd.ino === ours.ino
}

/** Returns a test by pid for processes that work in this folder or below; null if it does not exist. */
export function openOwnFolder(path: string): ((pid: number) => boolean) | null {
  const folder = readOrNull(() => realpathSync(path))
  const owner = folder === null ? null : readOrNull(() => lstatSync(folder).uid)
  if (folder === null || owner === null) return null
  return (pid) => {
    // First the kernel's answer: a folder of another user may be in a file system that never answers.
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
