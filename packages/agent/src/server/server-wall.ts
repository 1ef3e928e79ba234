import { randomInt } from 'node:crypto'
import { existsSync, lstatSync, statSync } from 'node:fs'
import { chown, mkdir, mkdtemp } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { messageOf, SERVER_USERS, usersOfPortsFile } from '@fairlead/engine'
import { runProgram } from '../builds/run-program.ts'
import { rootOf } from '../engine/engine-wall.ts'
import { type Inside, wallArguments } from '../engine/wall-script.ts'
import { removeLeftOvers } from '../process/remove-left-overs.ts'
import { removeTree } from '../process/remove-tree.ts'
import { tryAgain } from '../process/try-again.ts'
import { codeFolders } from '../proxy/code-folders.ts'
import { findUnreadable } from '../proxy/find-unreadable.ts'
import { isMovedIn, openServerFolder, type ServerFolder, serverFolder } from './server-folder.ts'
import { moveIn, moveOut } from './server-moves.ts'
import { takeTree } from './take-tree.ts'

/** The server as started: Node, and its arguments. */
export interface ServerProgram {
  readonly home: string
  readonly program: string
  /** The first absolute path among them is its code. */
  readonly args: readonly string[]
  /** True if it may listen at ports below 1024. */
  readonly lowPorts: boolean
  /** False if it should not have a separate user. */
  readonly isWanted: boolean
  /** Other folders that it may read. */
  readonly shown: readonly string[]
}

/** How to start it. */
export interface ServerPlace {
  readonly program: string
  readonly args: readonly string[]
  /** Reason why it has no separate user; undefined if it has. */
  readonly why: string | undefined
}

const WITHIN_MS = 20_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Finds the place of a home's server, and moves its files there. If root has started us on a home of root,
 * the server has a separate user behind a wall, where it sees its code, the system's programs, `server/own`,
 * and the sockets of agent and proxy; otherwise it has our user. Throws if a server runs on that home, or if
 * it would become root again only because of a failure.
 */
export async function placeServer(server: ServerProgram): Promise<ServerPlace> {
  const { home, program, args } = server
  const folder = serverFolder(home)
  const why = await whyNot(server, folder)
  if (why !== undefined) {
    if (server.isWanted && isRootsHome(home) && (await isMovedIn(folder)))
      throw new Error(
        `the server of this home is a user of its own, and cannot be now: ${why}. It is not started as root for that. On a machine without walls: FAIRLEAD_SERVER_WALL=off`,
      )
    // Root does not change another user's home.
    if (statSync(home).uid === process.geteuid?.()) await moveOut(folder)
    return { program, args, why }
  }
  const inside = await insideOf(server, folder)
  await moveIn(folder, inside.uid)
  await keepOwner(folder, inside.uid)
  return { program: 'unshare', args: [...wallArguments(inside), program, ...args], why: undefined }
}

/** Returns the arguments of unshare(1) for another command within the server's wall; null if it has none. */
export async function withinServerWall(server: ServerProgram): Promise<readonly string[] | null> {
  const folder = serverFolder(server.home)
  if (!isRootsHome(server.home) || !(await isMovedIn(folder))) return null
  return [...wallArguments(await insideOf(server, folder)), server.program, ...server.args]
}

function isRootsHome(home: string): boolean {
  return process.geteuid?.() === 0 && statSync(home).uid === 0
}

async function whyNot(server: ServerProgram, folder: ServerFolder): Promise<string | undefined> {
  if (!isRootsHome(server.home)) return 'root has not started it'
  if (!server.isWanted) return 'FAIRLEAD_SERVER_WALL or FAIRLEAD_ENGINE_WALL is off'
  const unreadable = findUnreadable(server.program, mainOf(server), folder.home)
  if (unreadable !== undefined) return unreadable
  try {
    const isServed = await isMovedIn(folder)
    const tried = async () => await tryElsewhere(await insideOf(server, folder), isServed)
    const fault = isServed ? await tryAgain(tried) : await tried()
    await removeLeftOvers(folder.path, TRY)
    if (fault !== undefined) return fault
    // A home whose server ran as root is not given to a user as which the server cannot run. A server that
    // had a separate user keeps it.
    const isToMove = existsSync(join(folder.home, 'store.db')) && !isServed
    return isToMove ? await tryProgram(server, await insideOf(server, folder)) : undefined
  } catch (cause) {
    return messageOf(cause)
  }
}

async function insideOf(
  server: ServerProgram,
  folder: ServerFolder,
): Promise<Inside & { readonly uid: number }> {
  const { home, program, lowPorts, shown } = server
  const uid = await openServerFolder(folder)
  await mkdir(rootOf(home), { recursive: true, mode: 0o700 })
  const users = dirname(usersOfPortsFile(join(folder.home, 'proxy')))
  // The agent, which writes there, may be started later.
  await mkdir(dirname(users), { recursive: true, mode: 0o700 })
  await mkdir(users, { recursive: true, mode: 0o755 })
  const files = [...codeFolders(mainOf(server)), '/sys/fs/cgroup', users, ...shown].filter((path) =>
    existsSync(path),
  )
  const own = { folder: { path: folder.own }, writable: [folder.own], files: [...files, folder.sockets] }
  return { home: folder.home, root: rootOf(home), ...own, program, uid, lowPorts }
}

function mainOf({ program, args }: ServerProgram): string {
  return args.find((each) => isAbsolute(each)) ?? program
}

/** Prefix of the name of a folder for a test. */
const TRY = 'try-'
/** Prints its state. */
const LOOK = '[ ! -e "$1" ] && echo hidden; : >looked && echo written; cat /proc/self/status'

/**
 * Tests the wall in another folder, as another such user, which a compromised server, or a process that it
 * left, cannot influence.
 */
async function tryElsewhere(
  inside: Inside & { readonly uid: number },
  isServed: boolean,
): Promise<string | undefined> {
  const path = await mkdtemp(join(dirname(inside.folder.path), TRY))
  try {
    const uid = SERVER_USERS.first + randomInt(SERVER_USERS.count)
    await chown(path, uid, uid)
    return await tryWall({ ...inside, uid, folder: { path }, writable: [path] }, isServed)
  } finally {
    await removeTree(path)
  }
}

/** Undefined if the wall works. `isServed`: it has worked before, with the present contents. */
async function tryWall(
  inside: Inside & { readonly uid: number },
  isServed: boolean,
): Promise<string | undefined> {
  const look = ['/bin/sh', '-c', LOOK, 'look', join(inside.home, 'wall')]
  const args = [...wallArguments(inside), ...look]
  const end = await runProgram({ program: 'unshare', args, deadlineMs: WITHIN_MS, env: { PATH } })
  // Processes of that user can make the machine slow: that must not lead back to root.
  if (end.late && isServed) return undefined
  if (end.code !== 0) return end.stderr.trim().split('\n')[0] || 'unshare says nothing'
  if (!end.stdout.startsWith('hidden\nwritten\n')) return 'the home can be seen through its wall'
  const isUser = new RegExp(`^Uid:\\s+${inside.uid}\\s`, 'm').test(end.stdout)
  const isBare = /^NoNewPrivs:\s+1$/m.test(end.stdout) && /^CapEff:\s+0*(400)?$/m.test(end.stdout)
  return isUser && isBare ? undefined : 'rights are not given up within its wall'
}

/** Takes 1 s. Undefined if all its files can be loaded there. */
async function tryProgram(
  server: ServerProgram,
  inside: Inside & { readonly uid: number },
): Promise<string | undefined> {
  const { args } = server
  const code = args.slice(0, args.indexOf(mainOf(server)) + 1)
  const {
    code: exit,
    late,
    stderr,
  } = await runProgram({
    program: 'unshare',
    args: [...wallArguments(inside), inside.program, ...code, '--version'],
    deadlineMs: WITHIN_MS,
    env: { PATH },
  })
  if (exit === 0 || late) return undefined
  const lines = stderr.split('\n').filter((line) => line !== '')
  const error = lines.find((line) => /^(\w*Error\b).*: /.test(line)) ?? lines.at(0)
  return `user ${inside.uid} cannot run it: ${error ?? `exit code ${exit}`}`
}

/** A whole home may have been given to root, for example by a restore. */
async function keepOwner({ own }: ServerFolder, uid: number): Promise<void> {
  const store = lstatSync(join(own, 'store.db'), { throwIfNoEntry: false })
  if (store !== undefined && store.uid !== uid) await takeTree(own, uid)
}
