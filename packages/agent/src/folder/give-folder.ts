import { randomInt } from 'node:crypto'
import { constants, lstatSync, statSync } from 'node:fs'
import { chown, lchown, lstat, open, opendir } from 'node:fs/promises'
import { codeOf, ENGINE_USERS, isEngineUser } from '@fairlead/engine'
import type { ShardFolder } from './shard-folder.ts'

/** Limit of nested folders; engines have one: appendonlydir. */
const MOST_DEEP = 16
/** Engines have about ten. A module, or an exploit, could make millions; each is checked before a start. */
const MOST_FILES = 100_000

/** Returns the user of this shard's engine: the folder's owner if it is an engine's user, or a random one. */
export function engineUserOf(folder: Pick<ShardFolder, 'path'>): number {
  const { uid } = lstatSync(folder.path)
  return isEngineUser(uid) ? uid : ENGINE_USERS.first + randomInt(ENGINE_USERS.count)
}

/**
 * Makes `uid`, the user of a shard's engine, the owner of all that the engine reads and writes. Files that
 * only the agent reads (wanted state, process record) stay the agent's. Root only; throws if there are more
 * than `mostFiles`.
 */
export async function giveFolder(folder: ShardFolder, uid: number, mostFiles = MOST_FILES): Promise<void> {
  const { ca, cert, key } = folder.certificate
  for (const path of [folder.conf, ca, cert, key]) await giveFile(path, uid)
  for (const path of [folder.data, folder.users]) await giveTree(path, uid, { left: mostFiles })
  // Last, so that after a crash the next agent repeats everything.
  await chown(folder.path, uid, uid)
}

/** The whole home may have got another owner while the engine ran; it then could not save its data. */
export async function giveFolderBack(folder: ShardFolder, { pid }: { readonly pid: number }): Promise<void> {
  const uid = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
  if (uid === undefined || !isEngineUser(uid) || process.geteuid?.() !== 0) return
  // Without a limit of files: a stop may take long, but is never refused.
  await giveFolder(folder, uid, Number.POSITIVE_INFINITY)
}

/** Gives a file that the agent has just written to the folder's owner, the engine's user. */
export async function giveToOwnerOf(folder: Pick<ShardFolder, 'path'>, path: string): Promise<void> {
  const { uid } = lstatSync(folder.path)
  if (process.geteuid?.() === 0 && isEngineUser(uid)) await giveFile(path, uid)
}

async function giveFile(path: string, uid: number): Promise<void> {
  await lchown(path, uid, uid).catch(unlessGone)
}

/**
 * Uses handles of open folders: a process of that user that outlived its engine could replace a folder by a
 * link in the meantime, and would become the owner of the link's target.
 */
async function giveTree(path: string, uid: number, files: { left: number }, deep = 0): Promise<void> {
  if (deep > MOST_DEEP) throw new Error(`${path} is nested in more folders than engines make`)
  await using handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const here = `/proc/self/fd/${handle.fd}`
  for await (const entry of await opendir(here)) {
    files.left -= 1
    if (files.left < 0)
      throw new Error(`its folder has more files than an engine makes: remove those that are not its own`)
    const each = `${here}/${entry.name}`
    if (entry.isDirectory()) await giveTree(each, uid, files, deep + 1)
    else await giveOther(each, uid)
  }
  if ((await handle.stat()).uid !== uid) await handle.chown(uid, uid)
}

async function giveOther(path: string, uid: number): Promise<void> {
  const found = await lstat(path).catch(unlessGone)
  if (found && found.uid !== uid) await giveFile(path, uid)
}

function unlessGone(cause: unknown): void {
  if (codeOf(cause) !== 'ENOENT') throw cause
}
