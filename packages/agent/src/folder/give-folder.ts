import { randomInt } from 'node:crypto'
import { constants, lstatSync, statSync } from 'node:fs'
import { chown, lchown, lstat, open, opendir } from 'node:fs/promises'
import { codeOf, ENGINE_USERS, isEngineUser } from '@fairlead/engine'
import type { ShardFolder } from './shard-folder.ts'

/** Engines have one: appendonlydir. */
const MOST_DEEP = 16
/** Engines have some ten. A module, or a hole, could make millions, and each is looked at before a start. */
const MOST_FILES = 100_000

/**
 * The user of this shard's engine: the owner of its folder if that is an engine's user, else a random one.
 */
export function engineUserOf(folder: Pick<ShardFolder, 'path'>): number {
  const { uid } = lstatSync(folder.path)
  return isEngineUser(uid) ? uid : ENGINE_USERS.first + randomInt(ENGINE_USERS.count)
}

/**
 * Makes the engine of a shard, which runs as `uid`, the owner of all that it reads and writes. What the agent alone reads (what is wanted,
 * which process it is) stays the agent's. Root only. Throws where there are more than `mostFiles` in it.
 */
export async function giveFolder(folder: ShardFolder, uid: number, mostFiles = MOST_FILES): Promise<void> {
  const { ca, cert, key } = folder.certificate
  for (const path of [folder.conf, ca, cert, key]) await giveFile(path, uid)
  for (const path of [folder.data, folder.users]) await giveTree(path, uid, { left: mostFiles })
  // Last: an agent that dies before it does all of it again.
  await chown(folder.path, uid, uid)
}

/**
 * The folder of a running engine may have got another owner together with the whole home; the engine then
 * could not save its data.
 */
export async function giveFolderBack(folder: ShardFolder, { pid }: { readonly pid: number }): Promise<void> {
  const uid = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
  if (uid === undefined || !isEngineUser(uid) || process.geteuid?.() !== 0) return
  // Without a limit of files: a stop may take long, but is never refused.
  await giveFolder(folder, uid, Number.POSITIVE_INFINITY)
}

/** Gives a file that the agent has just written to the owner of the folder, the engine's user. */
export async function giveToOwnerOf(folder: Pick<ShardFolder, 'path'>, path: string): Promise<void> {
  const { uid } = lstatSync(folder.path)
  if (process.geteuid?.() === 0 && isEngineUser(uid)) await giveFile(path, uid)
}

async function giveFile(path: string, uid: number): Promise<void> {
  await lchown(path, uid, uid).catch(unlessGone)
}

/**
 * It works through open folders: a process of that user which outlived its engine could replace a folder by a link meanwhile, and would become the
 * owner of what the link leads to.
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
