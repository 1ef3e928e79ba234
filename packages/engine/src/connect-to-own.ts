import { opendirSync, readlinkSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate as others } from 'node:timers/promises'
import type { EngineAddress } from './engine-address.ts'
import { isOurUser, isProxyOfRoot, isServerOfRoot } from './engine-users.ts'
import { type Listener, readListeners } from './read-listeners.ts'
import { usersOf } from './users-of-ports.ts'

/** The listening process is not proven to be ours: nothing may be sent to it. */
export class NotOurs extends Error {
  override readonly name = 'NotOurs'
}

/** A socket of our user that listens at an address. */
interface OwnListener extends Pick<Listener, 'inode' | 'uid'> {
  /** Path /proc/<pid>/fd/<number> in its process; null if unknown, or not yet known. */
  handle: string | null
}

/** An engine opens its sockets first, with low numbers. Of a process with thousands, the rest is ignored. */
const FIRST_FILES = 48
const MOST_SEEN = 10_000
/** Time to examine processes before other work has its turn. */
const AT_ONCE_MS = 1

const known = new Map<string, OwnListener>()
const handles = createHandles()

/**
 * Opens a connection (`connect`) at an address of this machine, after a proof that our own user's process, or
 * an engine that root has started, accepts it: another user may have taken the port of a dead process, and
 * must get no password.
 * 1. A listening socket of ours exists before and after connecting: no other user can make a socket in our
 *    name, and nothing else can listen there at the same time.
 * 2. If the engines' users are known (users-of-ports.ts), no other engine gets the password either.
 * 3. Addresses of other machines need no proof.
 * 4. On NotOurs, ECONNREFUSED, or an error of `connect` or the kernel's tables, `drop` closes the connection.
 */
export async function connectToOwn<Connection>(
  address: EngineAddress,
  connect: () => Promise<Connection>,
  drop: (connection: Connection) => void,
): Promise<Connection> {
  if (!isLoopback(address.host)) return connect()
  const listener = await ownListener(address)
  const connection = await connect()
  try {
    if (isHeld(listener) || (await isListed(address, listener))) return connection
    throw new NotOurs(`${textOf(address)} got another listener during the connection`)
  } catch (cause) {
    drop(connection)
    throw cause
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/** Throws like connecting if nothing listens there. */
async function ownListener(address: EngineAddress): Promise<OwnListener> {
  const where = textOf(address)
  const before = known.get(where)
  // The table may have appeared, or changed, since the socket was accepted.
  if (before !== undefined && isHeld(before) && isExpected(before.uid, usersOf(address))) return before
  const listeners = await readListeners(address)
  const stranger = listeners.find(({ uid }) => !isOurUser(uid))
  if (stranger !== undefined)
    throw new NotOurs(
      `${where} is held by a process of user ${stranger.uid}, and we are user ${process.geteuid?.()}`,
    )
  const users = usersOf(address)
  const another = listeners.find(({ uid }) => !isExpected(uid, users))
  if (another !== undefined)
    throw new NotOurs(
      `${where} is held by a process of user ${another.uid}, and its engine is user ${users.join(' or ')}`,
    )
  const [first] = listeners
  if (first === undefined)
    throw Object.assign(new Error(`connect ECONNREFUSED ${where}`), { code: 'ECONNREFUSED' })
  // If many connections begin at the same time, the first one finds the listener for all.
  const latest = known.get(where)
  if (first.inode === latest?.inode) return latest
  const listener: OwnListener = { inode: first.inode, uid: first.uid, handle: null }
  known.set(where, listener)
  if (isProxyOfRoot() || isServerOfRoot()) return listener // the kernel is asked each time
  // Nothing waits for the handle. Without it, the kernel is asked once more.
  void handles.find(first.inode).then((handle) => {
    listener.handle = handle
  })
  return listener
}

/** `users`: of the table; empty if unknown. Root can read everything anyway. */
function isExpected(uid: number, users: readonly number[]): boolean {
  return users.length === 0 || [0, ...users].includes(uid)
}

/** True if its process still has it. This takes some µs, reading all listeners some ms. */
function isHeld({ inode, handle }: OwnListener): boolean {
  return handle !== null && linkOf(handle) === nameOf(inode)
}

async function isListed(address: EngineAddress, { inode }: OwnListener): Promise<boolean> {
  return (await readListeners(address)).some((each) => each.inode === inode && isOurUser(each.uid))
}

/** Finds our user's process with a socket, youngest first, by its first files, or null. Never rejects. */
function createHandles() {
  const seen = new Map<string, string>()
  const look = (pid: string) => {
    for (const fd of firstFiles(`/proc/${pid}/fd`)) {
      const handle = `/proc/${pid}/fd/${fd}`
      const link = linkOf(handle)
      if (link?.startsWith('socket:')) seen.set(link, handle)
    }
  }
  return {
    async find(inode: number): Promise<string | null> {
      const name = nameOf(inode)
      const before = seen.get(name)
      if (before !== undefined && linkOf(before) === name) return before
      if (seen.size > MOST_SEEN) seen.clear()
      seen.delete(name)
      const pids = (await namesIn('/proc')).filter((each) => /^\d+$/.test(each))
      let began = performance.now()
      for (const pid of pids.toSorted((a, b) => Number(b) - Number(a))) {
        if (!isOurs(pid)) continue
        look(pid)
        if (seen.has(name)) break
        if (performance.now() - began < AT_ONCE_MS) continue
        await others()
        began = performance.now()
      }
      return seen.get(name) ?? null
    },
  }
}

/** Asynchronous, because other users may have tens of thousands of processes. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder).catch(() => [])
}

function isOurs(pid: string): boolean {
  try {
    return isOurUser(statSync(`/proc/${pid}`).uid)
  } catch {
    return false // it has ended
  }
}

function firstFiles(folder: string): readonly string[] {
  try {
    using files = opendirSync(folder)
    const names: string[] = []
    for (let file = files.readSync(); file !== null && names.length < FIRST_FILES; file = files.readSync())
      names.push(file.name)
    return names
  } catch {
    return [] // it has ended, or does not let us look
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function textOf({ host, port }: EngineAddress): string {
  return `${host}:${port}`
}

function nameOf(inode: number): string {
  return `socket:[${inode}]`
}
