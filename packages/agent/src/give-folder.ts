import { randomInt } from 'node:crypto'
import {
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { ENGINE_USERS, isEngineUser } from '@fairlead/engine'
import type { ShardFolder } from './shard-folder.ts'

/** The user of the engine of this shard: whose its folder is already, else one by chance. */
export function engineUserOf(folder: Pick<ShardFolder, 'path'>): number {
  const { uid } = lstatSync(folder.path)
  return isEngineUser(uid) ? uid : ENGINE_USERS.first + randomInt(ENGINE_USERS.count)
}

/**
 * Makes the engine of a shard, which runs as `uid`, the owner of all that it reads and writes. What the agent alone reads (what is wanted,
 * which process it is) stays the agent's. Root only.
 */
export function giveFolder(folder: ShardFolder, uid: number): void {
  const { ca, cert, key } = folder.certificate
  for (const path of [folder.conf, ca, cert, key]) giveFile(path, uid)
  for (const path of [folder.data, folder.users]) giveTree(path, uid)
  // Last: an agent that dies before it does all of it again.
  chownSync(folder.path, uid, uid)
}

/** The folder of an engine that runs may have been given to somebody else with all of the home; it then could not save its data. */
export function giveFolderBack(folder: ShardFolder, { pid }: { readonly pid: number }): void {
  const uid = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
  if (uid !== undefined && isEngineUser(uid) && process.geteuid?.() === 0) giveFolder(folder, uid)
}

/** A file that the agent has just written beside those of the engine, to whom the folder belongs. */
export function giveToOwnerOf(folder: Pick<ShardFolder, 'path'>, path: string): void {
  const { uid } = lstatSync(folder.path)
  if (process.geteuid?.() === 0 && isEngineUser(uid)) giveFile(path, uid)
}

function giveFile(path: string, uid: number): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) lchownSync(path, uid, uid)
}

/**
 * By way of open folders: a process of that user which outlived its engine could put a link in the place of a folder meanwhile, and be given what
 * the link leads to.
 */
function giveTree(path: string, uid: number): void {
  const handle = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const here = `/proc/self/fd/${handle}`
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      const each = `${here}/${entry.name}`
      if (entry.isDirectory()) giveTree(each, uid)
      else giveOther(each, uid)
    }
    if (fstatSync(handle).uid !== uid) chownSync(here, uid, uid)
  } finally {
    closeSync(handle)
  }
}

function giveOther(path: string, uid: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && found.uid !== uid) lchownSync(path, uid, uid)
}
