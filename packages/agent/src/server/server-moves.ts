import { lstatSync, readdirSync, statSync } from 'node:fs'
import { chmod, lchown, link, open, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeOf, isServerUser } from '@fairlead/engine'
import { readOrNull } from '../process/read-or-null.ts'
import { removeTree } from '../process/remove-tree.ts'
import { isMovedIn, type ServerFolder, writeNote } from './server-folder.ts'
import { takeTree } from './take-tree.ts'

const STORE = 'store.db'
/** Files of SQLite with the store's last commits. They are moved first. */
const BESIDE = ['store.db-wal', 'store.db-journal']
/** Recreated with each opening. */
const INDEX = 'store.db-shm'
/** Left by a stopped server: the command line uses the socket that exists. */
const OPERATOR = 'run/server.sock'
const OTHERS = ['store.key', 'ca.pem', 'bootstrap.secret', 'audit', 'modules']
/** SQLite's SQLITE_BUSY. */
const BUSY = 5

/** Called after each step: tests stop there, as a crash would. */
type OnStep = () => void

/**
 * Gives the files of a server without a wall to one that runs as `uid`. An interruption loses nothing, and
 * the next attempt continues, in either direction: until the note is in its old place the store is complete
 * there, and then in `own`. Root only; throws if a server runs.
 */
export async function moveIn(
  folder: ServerFolder,
  uid: number,
  onStep: OnStep = () => undefined,
): Promise<void> {
  const { home, own } = folder
  if (!(await isMovedIn(folder))) {
    if (isFile(join(home, STORE))) {
      mustBeFree(join(home, STORE))
      mustNotRun(folder, uid)
      // From an interrupted attempt, or from before the last way back.
      for (const name of [STORE, ...BESIDE, INDEX]) await removeTree(join(own, name))
      onStep()
      for (const name of [...BESIDE, STORE]) {
        const place = join(home, name)
        if (!isFile(place)) continue
        await lchown(place, uid, uid)
        await link(place, join(own, name))
        onStep()
      }
      await sync(own)
    }
    await writeNote(join(home, `${STORE}.note`))
    onStep()
    await rename(join(home, `${STORE}.note`), join(home, STORE))
    await sync(home)
    onStep()
  }
  for (const name of [...BESIDE, INDEX, OPERATOR]) await rm(join(home, name), { force: true })
  onStep()
  for (const name of OTHERS) {
    const place = join(home, name)
    if (!isThere(place)) continue
    await takeTree(place, uid)
    onStep()
    if (isThere(join(own, name))) await rename(join(own, name), join(own, `${name}.aside-${Date.now()}`))
    await rename(place, join(own, name))
    onStep()
  }
  await sync(own)
}

/**
 * The reverse, if there is no wall any more. A compromised server may have put anything there, so only plain
 * files and folders are moved. Throws if a server within a wall runs.
 */
export async function moveOut(folder: ServerFolder, onStep: OnStep = () => undefined): Promise<void> {
  const { home, own } = folder
  if (!isThere(own)) return
  const { uid } = statSync(home)
  mustNotRun(folder, lstatSync(own).uid)
  if (await isMovedIn(folder)) {
    const draft = join(home, `${STORE}.moving`)
    await rm(draft, { force: true })
    for (const name of BESIDE) await rm(join(home, name), { force: true })
    onStep()
    for (const name of BESIDE) await takeFile(join(own, name), join(home, name), uid)
    onStep()
    if (await takeFile(join(own, STORE), draft, uid)) await rename(draft, join(home, STORE))
    // No store was ever there.
    else await rm(join(home, STORE))
    await sync(home)
    onStep()
  }
  for (const name of [STORE, ...BESIDE, INDEX, basename(OPERATOR)]) await removeTree(join(own, name))
  onStep()
  for (const name of OTHERS) {
    const place = join(home, name)
    if (!isThere(join(own, name)) || isThere(place)) continue
    await rename(join(own, name), place)
    onStep()
  }
  // Also those that an earlier attempt has moved.
  for (const name of OTHERS) await takeTree(join(home, name), uid)
  await sync(home)
}

/** Uses a second name in a folder of root, where that user cannot replace it. False without a plain file. */
async function takeFile(from: string, to: string, uid: number): Promise<boolean> {
  try {
    await link(from, to)
  } catch (cause) {
    // EPERM: a folder has only one name.
    if (['ENOENT', 'EPERM'].includes(codeOf(cause))) return false
    throw cause
  }
  if (!isFile(to)) {
    await rm(to)
    throw new Error(
      `${from} is no plain file: what runs as the server's user has put it there. Take the store from a backup`,
    )
  }
  await lchown(to, uid, uid)
  await chmod(to, 0o600)
  return true
}

/** Throws while a server without a wall holds its store's lock. Also completes the store from its log. */
function mustBeFree(store: string): void {
  const file = new DatabaseSync(store, { timeout: 2_000 })
  try {
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT')
  } catch (cause) {
    if ((cause as { errcode?: number }).errcode === BUSY)
      throw new Error(`another Fairlead server runs on ${store}`, { cause })
    throw cause
  } finally {
    file.close()
  }
}

function mustNotRun({ home }: ServerFolder, uid: number): void {
  if (!isServerUser(uid)) return
  const pid = readdirSync('/proc').find(
    (name) => /^\d+$/.test(name) && readOrNull(() => statSync(`/proc/${name}`).uid) === uid,
  )
  if (pid !== undefined)
    throw new Error(`another Fairlead server runs on ${home} (process ${pid}); stop it first`)
}

async function sync(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
