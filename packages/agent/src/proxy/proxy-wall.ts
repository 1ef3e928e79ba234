import { randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chown, mkdtemp } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { PROXY_USERS, usersOfPortsFile } from '@fairlead/engine'
import type { Logger } from 'pino'
import { runProgram } from '../builds/run-program.ts'
import { type EngineWall, rootOf } from '../engine/engine-wall.ts'
import { wallHeld } from '../engine/wall-held.ts'
import { type Inside, wallArguments } from '../engine/wall-script.ts'
import { readPlainFile } from '../process/open-plain-file.ts'
import { removeLeftOvers } from '../process/remove-left-overs.ts'
import { removeTree } from '../process/remove-tree.ts'
import { codeFolders } from './code-folders.ts'
import { findUnreadable } from './find-unreadable.ts'
import type { ProxyFolder } from './proxy-folder.ts'
import { moveIn, moveOut, openOwn } from './proxy-moves.ts'

/** How to start a process of the proxy. */
export interface ProxyPlace {
  readonly program: string
  readonly args: readonly string[]
  /** Working folder, with all files of the proxy. */
  readonly folder: string
}

/** The wall around the proxy, if root has started Fairlead: a separate user sees only its folder and code. */
export interface ProxyWall {
  /**
   * Decides where the next process runs, and moves the last one's files there. `program`: with arguments,
   * without its home; `isDoubted`: the last process has never answered, so it is tested whether all files can
   * be loaded there. Throws if an unrecorded proxy serves from there, or if it would be root on a home where
   * one has served within its wall.
   */
  place(folder: ProxyFolder, program: readonly string[], isDoubted: boolean): Promise<ProxyPlace>
  /** Call when the last started process answers. */
  answers(folder: ProxyFolder): Promise<void>
}

/** Prefix of the name of a folder for a test. */
const CHECK = 'check-'
/** For a busy machine. */
const CHECKED_WITHIN_MS = 20_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Limit of a proxy's state of its endpoints. Thousands of them have some MB, with certificates. */
const MOST_BYTES = 256 * 1024 * 1024
const LOWEST_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start'

/**
 * Gives the proxy a wall if root has started us and engines have walls. Otherwise it is our user, and if that
 * is root, the log has the reason. `lowPorts`: endpoints may have ports that only root can give.
 */
export function createProxyWall(settings: {
  readonly home: string
  readonly engines: Pick<EngineWall, 'missing'>
  readonly lowPorts: boolean
  readonly logger: Logger
}): ProxyWall {
  const { home, engines, lowPorts, logger } = settings
  let told: string | undefined
  let isWithin = false
  const whyNot = async (inside: Inside | null, args: readonly string[], isDoubted: boolean) => {
    if (engines.missing !== null) return engines.missing
    if (inside === null) return 'its program is missing'
    const main = args.find((each) => isAbsolute(each)) ?? inside.program
    const unreadable = findUnreadable(inside.program, main, inside.home)
    return unreadable ?? (isDoubted ? await tryElsewhere(inside, args) : undefined)
  }
  return {
    async place(folder, [program = '', ...rest], isDoubted) {
      const outside = { program, args: [...rest, '--home', folder.path], folder: folder.path }
      if (process.geteuid?.() === 0) {
        const uid = await openOwn(folder)
        await removeLeftOvers(folder.path, CHECK)
        const args = [...rest, '--home', folder.own, '--socket', basename(folder.socket)]
        const places = { home, folder, program, uid }
        const inside = insideOf(places, rest, lowPorts || (await hasLowPorts(folder)))
        const why = await whyNot(inside, args, isDoubted || told !== undefined)
        isWithin = inside !== null && why === undefined
        if (inside !== null && why === undefined) {
          await moveIn(folder, uid)
          return {
            program: 'unshare',
            args: [...wallArguments(inside), program, ...args],
            folder: folder.own,
          }
        }
        const held = wallHeld(folder.path)
        if (engines.missing !== null) await held.forget()
        if (held.before)
          throw new Error(
            `${why}. A proxy has run within a wall on this home, so none is started as root. On a machine without walls: FAIRLEAD_ENGINE_WALL=off`,
          )
        if (why !== told) logger.warn({ why }, 'the proxy runs as root: clients speak to a process of root')
        told = why
      }
      await moveOut(folder)
      return outside
    },
    answers: async (folder) => {
      if (isWithin) await wallHeld(folder.path).note()
    },
  }
}

/** Null if the program, or what it loads from, is unknown. */
function insideOf(
  places: {
    readonly home: string
    readonly folder: ProxyFolder
    readonly program: string
    readonly uid: number
  },
  args: readonly string[],
  lowPorts: boolean,
): Inside | null {
  const { home, folder, program, uid } = places
  const main = args.find((each) => isAbsolute(each))
  if (!existsSync(program) || main === undefined || !existsSync(main)) return null
  // From the last, Node learns how much memory and how many processors it may use.
  const users = dirname(usersOfPortsFile(folder.path))
  const files = [...codeFolders(main), '/sys/fs/cgroup', users].filter((path) => existsSync(path))
  const own = { folder: { path: folder.own }, writable: [folder.own], files }
  return { home, root: rootOf(home), ...own, program, uid, lowPorts }
}

/**
 * Undefined if it can load all its files within its wall, else the reason. Tested in another folder and with
 * another such user: a compromised proxy, or what it left running, could otherwise make the test fail, so
 * that the next one is root.
 */
async function tryElsewhere(inside: Inside, args: readonly string[]): Promise<string | undefined> {
  const own = inside.folder.path
  const path = await mkdtemp(join(dirname(own), CHECK))
  try {
    const uid = PROXY_USERS.first + randomInt(PROXY_USERS.count)
    await chown(path, uid, uid)
    const there = { ...inside, uid, folder: { path }, writable: [path] }
    return await tryWithin(
      there,
      args.map((each) => (each === own ? path : each)),
    )
  } finally {
    await removeTree(path)
  }
}

async function tryWithin(inside: Inside, args: readonly string[]): Promise<string | undefined> {
  const { code, late, stderr } = await runProgram({
    program: 'unshare',
    args: [...wallArguments(inside), inside.program, ...args, '--check'],
    deadlineMs: CHECKED_WITHIN_MS,
    env: { PATH },
  })
  if (code === 0 || late) return undefined
  const lines = stderr.split('\n').filter((line) => line !== '')
  const error = lines.find((line) => /^(\w*Error\b).*: /.test(line)) ?? lines.at(0)
  return `user ${inside.uid} cannot run it: ${error ?? `exit code ${code}`}`
}

/** True if a database may have got such a port when all ports were allowed. */
async function hasLowPorts({ path, own }: ProxyFolder): Promise<boolean> {
  const lowest = readLowestPort()
  for (const folder of [own, path]) {
    // It does not exist yet, or the proxy has replaced it.
    const text = await readPlainFile(join(folder, 'endpoints.json'), MOST_BYTES).catch(() => '')
    if ([...text.matchAll(/"port":(\d+)/g)].some(([, port]) => Number(port) < lowest)) return true
  }
  return false
}

function readLowestPort(): number {
  try {
    return Number(readFileSync(LOWEST_PORT, 'utf8'))
  } catch {
    return 1_024 // older kernels do not say it
  }
}
