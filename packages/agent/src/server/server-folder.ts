import { randomBytes, randomInt } from 'node:crypto'
import { chmod, chown, link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { codeOf, isServerUser, SERVER_USERS } from '@fairlead/engine'

/**
 * Folders of a server with a separate user, if root has started us. `path` and its direct content are root's.
 * That user can write only in `own`, and root checks everything there before it opens, follows or runs it.
 */
export interface ServerFolder {
  readonly home: string
  readonly path: string
  /** Owned by the user: the store, its key, the audit, modules, the operator's socket. */
  readonly own: string
  /** Sockets of agent and proxy, for the server. It keeps its old name, where running servers look for it. */
  readonly sockets: string
}

/** Returns the folder of the server under `home`, without touching it. */
export function serverFolder(home: string): ServerFolder {
  const path = join(resolve(home), 'server')
  return { home: resolve(home), path, own: join(path, 'own'), sockets: join(path, 'doors') }
}

/** Makes the folders, and returns the user of this home's server: recorded, or a random one. Root only. */
export async function openServerFolder({ path, own, sockets }: ServerFolder): Promise<number> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const uid = await userOf(path)
  await mkdir(own, { recursive: true, mode: 0o700 })
  await chown(own, uid, uid)
  // A compromised server could have closed it, and would seem unable to have a separate user.
  await chmod(own, 0o700)
  await mkdir(sockets, { recursive: true, mode: 0o700 })
  // It is visible within the wall, and its sockets are the server's.
  await chown(sockets, 0, uid)
  await chmod(sockets, 0o710)
  return uid
}

/** Agent and server may call this concurrently: the first record stays. */
async function userOf(path: string): Promise<number> {
  const file = join(path, 'user')
  const draft = `${file}-${randomBytes(8).toString('hex')}`
  const before = Number(await readFile(file, 'utf8').catch(() => ''))
  if (isServerUser(before)) return before
  await writeFile(draft, `${SERVER_USERS.first + randomInt(SERVER_USERS.count)}\n`, {
    mode: 0o600,
    flush: true,
  })
  try {
    await link(draft, file)
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause
  } finally {
    await rm(draft, { force: true })
  }
  const uid = Number(await readFile(file, 'utf8'))
  if (!isServerUser(uid)) throw new Error(`${file} names no user of a server: remove it`)
  return uid
}

const NOTE = 'The store of this Fairlead is server/own/store.db'
const noteText = `${NOTE}: the server is a user of its own.
An older Fairlead cannot use it there. The way back: start this one once with FAIRLEAD_SERVER_WALL=off.
`

/** True if the store is in `own`, by a note in its old place, where an older Fairlead would begin anew. */
export async function isMovedIn({ home }: Pick<ServerFolder, 'home'>): Promise<boolean> {
  try {
    await using file = await open(join(home, 'store.db'), 'r')
    const { buffer, bytesRead } = await file.read(Buffer.alloc(NOTE.length), 0, NOTE.length, 0)
    return buffer.toString('latin1', 0, bytesRead) === NOTE
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return false
    throw cause
  }
}

/** Writes the note to `path`, durably. */
export async function writeNote(path: string): Promise<void> {
  await rm(path, { force: true })
  await writeFile(path, noteText, { mode: 0o600, flag: 'wx', flush: true })
}
