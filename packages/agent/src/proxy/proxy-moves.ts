import { randomInt } from 'node:crypto'
import { chmodSync, chownSync, lstatSync } from 'node:fs'
import { lchown, link, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { codeOf, isProxyUser, PROXY_USERS, waitForLock } from '@fairlead/engine'
import { removeTree } from '../process/remove-tree.ts'
import type { ProxyFolder } from './proxy-folder.ts'

/** Files that the next proxy of a home needs from the last one. */
const KEPT = ['endpoints.json', 'cursors.json', 'epochs.json']

/** Makes the folder of a proxy with a separate user. Returns the user: owner, or random. Root only. */
export async function openOwn({ own }: ProxyFolder): Promise<number> {
  await mkdir(own, { recursive: true, mode: 0o700 })
  const { uid: before } = lstatSync(own)
  const uid = isProxyUser(before) ? before : PROXY_USERS.first + randomInt(PROXY_USERS.count)
  chownSync(own, uid, uid)
  // A compromised proxy could have closed the folder: its next process could not start there, and would run
  // as root.
  chmodSync(own, 0o700)
  return uid
}

/** Gives the files of a proxy without a wall to one that runs as `uid`. Throws while the former runs. */
export async function moveIn(folder: ProxyFolder, uid: number): Promise<void> {
  const { path, own, socket, turnsSocket } = folder
  await mustBeFree(folder, path)
  await moveFiles(path, own, uid)
  for (const place of [socket, turnsSocket]) {
    const draft = `${place}.draft`
    await rm(draft, { force: true })
    await symlink(relative(path, join(own, basename(place))), draft)
    await rename(draft, place)
  }
}

/** The reverse, if there is no wall any more. Throws while a proxy within a wall runs. */
export async function moveOut(folder: ProxyFolder): Promise<void> {
  const { path, own } = folder
  if (lstatSync(own, { throwIfNoEntry: false }) === undefined) return
  await mustBeFree(folder, own)
  const { uid } = lstatSync(path)
  await moveFiles(own, path, uid)
}

async function moveFiles(from: string, to: string, uid: number): Promise<void> {
  for (const name of KEPT) {
    const place = join(from, name)
    // It contains keys.
    await rm(`${place}.draft`, { force: true })
    if (!isFile(place)) continue
    await rename(place, join(to, name))
    await lchown(join(to, name), uid, uid)
  }
}

/**
 * Throws while a proxy holds the lock in its folder: two on one home would open the same ports. The lock is
 * tried by a hard link in a folder of root, because a proxy with a separate user could replace it by a link
 * to another file in the meantime. If the proxy has put something else there, it is removed: it would prevent
 * the next start.
 */
async function mustBeFree({ path }: ProxyFolder, folder: string): Promise<void> {
  const file = join(folder, 'proxy.lock')
  const name = join(path, '.lock-looked-at')
  await rm(name, { force: true })
  try {
    await link(file, name)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT') return // there is none
    if (code !== 'EPERM') throw cause
    await removeTree(file) // a folder has one name only
    return
  }
  try {
    // A file with contents is no lock: SQLite would take it for a database, and make more files.
    const state = isFile(name) && lstatSync(name).size === 0 ? await stateOfLock(name) : 'no lock'
    if (state === 'held') throw new Error(`another proxy runs on ${folder}; stop it first`)
    if (state === 'no lock') await removeTree(file)
  } finally {
    await rm(name, { force: true })
  }
}

/** SQLite's SQLITE_CORRUPT and SQLITE_NOTADB. */
const NO_DATABASE = [11, 26]

async function stateOfLock(file: string): Promise<'free' | 'held' | 'no lock'> {
  try {
    const lock = await waitForLock(file)
    lock?.[Symbol.dispose]()
    return lock === null ? 'held' : 'free'
  } catch (cause) {
    // The file is not a lock. Any other error (for example too many open files) is not about the file.
    if (NO_DATABASE.includes((cause as { errcode?: number }).errcode ?? 0)) return 'no lock'
    throw cause
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
