import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { usersOfPortsFile } from '@fairlead/engine'
import type { Logger } from 'pino'
import { runProgram } from '../builds/run-program.ts'
import { type EngineWall, rootOf } from '../engine/engine-wall.ts'
import { type Inside, wallArguments } from '../engine/wall-script.ts'
import { readPlainFile } from '../process/open-plain-file.ts'
import { codeFolders } from './code-folders.ts'
import type { ProxyFolder } from './proxy-folder.ts'
import { moveIn, moveOut, openOwn } from './proxy-moves.ts'

/** How a process of the proxy is started. */
export interface ProxyPlace {
  readonly program: string
  readonly args: readonly string[]
  /** Where it works, and where all that it keeps is. */
  readonly folder: string
}

/** What is around the proxy where root has started us: it is a user of its own, and sees its own folder and its code, nothing else of Fairlead. */
export interface ProxyWall {
  /**
   * Where the next process runs. What the last one kept is there then. `program`: with its arguments, but for its home. `isDoubted`: the last
   * one has never answered, so it is tried first whether this one can load all of itself there. Throws when a proxy that nobody has recorded
   * serves from there.
   */
  place(folder: ProxyFolder, program: readonly string[], isDoubted: boolean): Promise<ProxyPlace>
}

/** On a busy machine. */
const CHECKED_WITHIN_MS = 20_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Of what a proxy keeps of its endpoints. Thousands of them have some megabytes, with their certificates. */
const MOST_BYTES = 256 * 1024 * 1024
const LOWEST_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start'

/**
 * Where root has started us and engines have walls, the proxy has one, too; otherwise it is the user that we are, and if that is root, the log
 * says why. `lowPorts`: endpoints may be asked to have ports that only root can give.
 */
export function createProxyWall(settings: {
  readonly home: string
  readonly engines: Pick<EngineWall, 'missing'>
  readonly lowPorts: boolean
  readonly logger: Logger
}): ProxyWall {
  const { home, engines, lowPorts, logger } = settings
  let told: string | undefined
  const whyNot = async (inside: Inside | null, args: readonly string[], isDoubted: boolean) => {
    if (engines.missing !== null) return engines.missing
    if (inside === null) return 'its program is missing'
    return isDoubted ? await tryWithin(inside, args) : undefined
  }
  return {
    async place(folder, [program = '', ...rest], isDoubted) {
      const outside = { program, args: [...rest, '--home', folder.path], folder: folder.path }
      if (process.geteuid?.() === 0) {
        const uid = await openOwn(folder)
        const args = [...rest, '--home', folder.own, '--socket', basename(folder.socket)]
        const places = { home, folder, program, uid }
        const inside = insideOf(places, rest, lowPorts || (await hasLowPorts(folder)))
        const why = await whyNot(inside, args, isDoubted || told !== undefined)
        if (inside !== null && why === undefined) {
          await moveIn(folder, uid)
          return {
            program: 'unshare',
            args: [...wallArguments(inside), program, ...args],
            folder: folder.own,
          }
        }
        if (why !== told) logger.warn({ why }, 'the proxy runs as root: clients speak to a process of root')
        told = why
      }
      await moveOut(folder)
      return outside
    },
  }
}

/** Null where the program, or what it loads from, cannot be told. */
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
  // By the last, Node finds out how much memory and how many processors it may use.
  const users = dirname(usersOfPortsFile(folder.path))
  const files = [...codeFolders(main), '/sys/fs/cgroup', users].filter((path) => existsSync(path))
  const own = { folder: { path: folder.own }, writable: [folder.own], files }
  return { home, root: rootOf(home), ...own, program, uid, lowPorts }
}

/** Undefined: it can load all of itself there. Otherwise why not. */
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

/** A database may have been given such a port when any could be asked for. */
async function hasLowPorts({ path, own }: ProxyFolder): Promise<boolean> {
  const lowest = readLowestPort()
  for (const folder of [own, path]) {
    // It is not there yet; or the proxy has put something else in its place.
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
