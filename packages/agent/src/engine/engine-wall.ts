import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { runProgram } from '../builds/run-program.ts'
import { engineUserOf, giveFolder } from '../folder/give-folder.ts'
import { type ShardFolder, shardFolder } from '../folder/shard-folder.ts'
import { removeLeftOvers } from '../process/remove-left-overs.ts'
import { tryAgain } from '../process/try-again.ts'
import { openOwnFolder } from '../process/works-in-folder.ts'
import { wallHeld } from './wall-held.ts'
import { type Inside, isWholeBuild, wallArguments } from './wall-script.ts'

/** The wall around each engine: it sees only its folder, its modules, its build and the system's programs. */
export interface EngineWall {
  /** Reason why engines run without it; null if they run within it. */
  readonly missing: string | null
  /**
   * Returns how to start `program` with `args` within the wall; the engine's user then owns the folder. A
   * program that works only outside is started outside, and logged. Throws if we run as root and only the
   * server requests that.
   */
  command(folder: ShardFolder, start: EngineStart): Promise<EngineCommand>
}

export interface EngineStart {
  readonly program: string
  readonly args: readonly string[]
  /** Files of its modules. */
  readonly modules: readonly string[]
  /** True if its shard ran with this build and these modules without a wall before. */
  readonly ranOutside: boolean
}

export interface EngineCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly within: boolean
}

/** Limits for a busy machine. A program that takes longer counts as running. */
const TELLS_WITHIN_MS = 3_000
const LOOKED_AT_WITHIN_MS = 20_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Tests whether walls work on this machine: builds one and checks it from inside and outside. If not, or if
 * `isWanted` is false, engines are started without a wall, and that is logged. Throws if engines would then
 * run as root on a home where walls have worked before.
 */
export async function openEngineWall(home: string, isWanted: boolean, logger: Logger): Promise<EngineWall> {
  await removeLeftOvers(home, SECRET)
  const held = wallHeld(home)
  const missing = isWanted ? await tryWall(home, held.before) : 'FAIRLEAD_ENGINE_WALL is off'
  if (missing === undefined) {
    await held.note()
    return wallOf(home, logger)
  }
  if (!isWanted) await held.forget()
  if (held.before)
    throw new Error(
      `walls have worked on this home, and none can be built now: ${missing}. So no engine is started as root: start Fairlead again. On a machine without walls: FAIRLEAD_ENGINE_WALL=off`,
    )
  const words = 'engines run without a wall: they, and modules, can read what Fairlead can'
  if (isWanted) logger.warn({ why: missing }, words)
  else logger.info({ why: missing }, words)
  return withoutWall(missing)
}

/** Starts engines without a wall. */
export function withoutWall(missing: string): EngineWall {
  return {
    missing,
    command: (_, { program, args }) => Promise.resolve({ program, args, within: false }),
  }
}

function wallOf(home: string, logger: Logger): EngineWall {
  const known = new Map<string, Where>()
  return {
    missing: null,
    async command(folder, { program, args, modules, ranOutside }) {
      const inside = { ...insideOf(home, folder, program), files: modules }
      const key = keyOf(program)
      const where = known.get(key) ?? (await whereItRuns(inside))
      if (where !== 'nowhere') known.set(key, where)
      if (where === 'outside' && inside.uid !== null && !ranOutside)
        throw new Error(
          `${program} does not run within a wall, and without one it would be root: is it a build that needs files which are neither its own nor the system’s? FAIRLEAD_ENGINE_WALL=off starts all engines without a wall`,
        )
      if (where === 'outside')
        logger.error(
          { program },
          'this build does not run within a wall, and runs without one: does it need files that are neither its own nor the system’s?',
        )
      if (where !== 'inside') return { program, args, within: false }
      if (inside.uid !== null) await giveFolder(folder, inside.uid)
      return { program: 'unshare', args: [...wallArguments(inside), program, ...args], within: true }
    },
  }
}

/** Another file at the same path is another program. */
function keyOf(program: string): string {
  const found = statSync(program, { throwIfNoEntry: false })
  return [program, found?.ino, found?.mtimeMs].join()
}

function insideOf(home: string, folder: ShardFolder, program: string): Inside {
  const uid = process.geteuid?.() === 0 ? engineUserOf(folder) : null
  const writable = [folder.data, folder.users]
  return { home, root: rootOf(home), folder, writable, files: [], program, uid }
}

/** Returns the folder where this home's walls are built; outside them it stays empty. */
export function rootOf(home: string): string {
  return join(home, 'wall')
}

type Where = 'inside' | 'outside' | 'nowhere'

/**
 * A program runs within the wall if it prints its version there. One that runs nowhere is started without a
 * wall, so that its start reports the error.
 */
async function whereItRuns(inside: Inside): Promise<Where> {
  const { program } = inside
  if (!existsSync(program)) return 'nowhere'
  if (isWholeBuild(program)) return 'inside'
  if (await works('unshare', [...wallArguments(inside), program, '--version'])) return 'inside'
  return (await works(program, ['--version'])) ? 'outside' : 'nowhere'
}

async function works(program: string, args: readonly string[]): Promise<boolean> {
  const end = await runProgram({ program, args, deadlineMs: TELLS_WITHIN_MS, env: { PATH } }).catch(
    () => null,
  )
  return end !== null && (end.code === 0 || end.late)
}

/** Undefined if the wall works, else the failure. A wall that has worked before is tried again. */
async function tryWall(home: string, before: boolean): Promise<string | undefined> {
  return before ? await tryAgain(() => tryOnce(home)) : await tryOnce(home)
}

/** Prefix of the name of a file that must not be visible inside. */
const SECRET = '.wall-look-'

async function tryOnce(home: string): Promise<string | undefined> {
  const folder = shardFolder(join(home, 'trials'), `wall-${randomBytes(4).toString('hex')}`)
  const secret = join(home, `${SECRET}${randomBytes(4).toString('hex')}`)
  try {
    await mkdir(rootOf(home), { recursive: true, mode: 0o700 })
    await folder.create()
    writeFileSync(secret, 'secret', { mode: 0o600 })
    const inside = insideOf(home, folder, '/bin/sh')
    if (inside.uid !== null) await giveFolder(folder, inside.uid)
    return await lookAtWall(inside, secret)
  } catch (cause) {
    return messageOf(cause)
  } finally {
    await rm(secret, { force: true })
    await folder.remove().catch(() => undefined)
  }
}

/** Prints what is visible, then waits until it has been checked from outside. */
const LOOK =
  '[ ! -e "$1" ] && echo hidden; echo x >data/written && echo written; cat /proc/self/status; echo looked; read -r _'

async function lookAtWall(inside: Inside, secret: string): Promise<string | undefined> {
  const { folder, program } = inside
  const args = [...wallArguments(inside), program, '-c', LOOK, 'look', secret]
  const signal = AbortSignal.timeout(LOOKED_AT_WITHIN_MS)
  const child = spawn('unshare', args, { cwd: folder.path, env: { PATH }, stdio: 'pipe', signal })
  const closed = once(child, 'close')
  // It may fail while its output is still read.
  closed.catch(() => undefined)
  const errors = text(child.stderr)
  let seen = ''
  let fault: string | undefined
  for await (const chunk of child.stdout) {
    seen += String(chunk)
    if (!seen.includes('\nlooked\n')) continue
    fault = faultOf(seen, inside, child.pid ?? 0)
    child.stdin.end('\n')
  }
  await closed
  if (!seen.includes('\nlooked\n')) return (await errors).trim().split('\n')[0] || 'unshare says nothing'
  return fault
}

function faultOf(seen: string, { folder, uid }: Inside, pid: number): string | undefined {
  const own = process.geteuid?.()
  if (!seen.includes('hidden')) return 'the home can be seen through it'
  if (!seen.includes('written')) return 'an engine could not write its data within it'
  if (!/^NoNewPrivs:\s+1$/m.test(seen) || !/^CapEff:\s+0+$/m.test(seen))
    return 'rights are not given up within it'
  if (statSync(`/proc/${pid}`).uid !== (uid ?? own)) return 'the user within it is another'
  // These identify a process for the agent.
  if (!openOwnFolder(folder.path)?.(pid)) return 'its processes cannot be told apart from outside'
  readlinkSync(`/proc/${pid}/fd/0`)
  return undefined
}
