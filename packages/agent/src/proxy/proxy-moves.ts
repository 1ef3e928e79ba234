import { randomInt } from 'node:crypto'
import { chownSync, lstatSync } from 'node:fs'
import { lchown, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isProxyUser, PROXY_USERS } from '@fairlead/engine'
import { lockFile } from '../process/lock-file.ts'
import type { ProxyFolder } from './proxy-folder.ts'

/** What the next proxy of a home has to know of the one before. */
const KEPT = ['endpoints.json', 'cursors.json']
/** How long the lock of a killed proxy may outlive it, on a busy machine. */
const DYING_MS = 2_000

/** Makes the folder of a proxy that is a user of its own, and answers the user: whose the folder is already, else one by chance. Root only. */
export async function openOwn({ own }: ProxyFolder): Promise<number> {
  await mkdir(own, { recursive: true, mode: 0o700 })
  const { uid: before } = lstatSync(own)
  const uid = isProxyUser(before) ? before : PROXY_USERS.first + randomInt(PROXY_USERS.count)
  chownSync(own, uid, uid)
  return uid
}

/** Gives what a proxy without a wall has kept to the one that runs as `uid`. Throws when one without a wall still runs. */
export async function moveIn(folder: ProxyFolder, uid: number): Promise<void> {
  const { path, own, socket, turnsSocket } = folder
  await mustBeFree(path)
  await moveFiles(path, own, uid)
  for (const place of [socket, turnsSocket]) {
    const link = `${place}.draft`
    await rm(link, { force: true })
    await symlink(relative(path, join(own, basename(place))), link)
    await rename(link, place)
  }
}

/** The way back, where there is no wall any more. Throws when a proxy within a wall still runs. */
export async function moveOut({ path, own }: ProxyFolder): Promise<void> {
  if (lstatSync(own, { throwIfNoEntry: false }) === undefined) return
  await mustBeFree(own)
  const { uid } = lstatSync(path)
  await moveFiles(own, path, uid)
}

async function moveFiles(from: string, to: string, uid: number): Promise<void> {
  for (const name of KEPT) {
    const place = join(from, name)
    // Keys are in it.
    await rm(`${place}.draft`, { force: true })
    if (!isFile(place)) continue
    await rename(place, join(to, name))
    await lchown(join(to, name), uid, uid)
  }
}

/** Of two proxies on one home each would open the ports of the other: the one that runs holds the lock in its folder. */
async function mustBeFree(folder: string): Promise<void> {
  const file = join(folder, 'proxy.lock')
  if (!isFile(file)) return
  for (const until = performance.now() + DYING_MS; performance.now() < until; await delay(20)) {
    const lock = lockFile(file)
    if (lock === null) continue
    lock[Symbol.dispose]()
    return
  }
  throw new Error(`another proxy runs on ${folder}; stop it first`)
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
