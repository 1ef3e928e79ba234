import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { freemem } from 'node:os'
import { dirname } from 'node:path'
import type { Config } from '@fairlead/server'
import type { Context } from '../../link/open-context.ts'
import { faultTextOf } from '../../output/print-error.ts'
import { showBytes } from '../../output/show-quantity.ts'
import { type Check, fine } from './check.ts'

/** Checks this machine, except a pure client: one with a profile and without FAIRLEAD_HOME. */
export async function checkHere(context: Context, config: () => Promise<Config>): Promise<readonly Check[]> {
  if (process.platform !== 'linux') return []
  try {
    const read = await config()
    const isClient = !existsSync(read.home) && context.target().server !== undefined
    return isClient ? [] : await checkMachine(read, context.terminal.env['PATH'] ?? '')
  } catch (cause) {
    const { message, next } = faultTextOf(cause)
    const mend = next ?? 'docs/reference/configuration.md has every variable'
    return [{ check: 'configuration', result: 'bad', what: message, mend }]
  }
}

/** Checks what engines and Fairlead need on a machine with databases. Reads only. */
async function checkMachine(config: Config, path: string): Promise<readonly Check[]> {
  return [
    await checkBuilds(config, path),
    checkHome(config.home),
    await checkDisk(config.home),
    checkMemory(),
    checkPorts(config.portRange),
    checkFiles(),
    checkOvercommit(),
    checkHugePages(),
  ]
}

async function checkBuilds({ engines: folder }: Config, path: string): Promise<Check> {
  const { createBuildFinder } = await import('@fairlead/agent')
  const finder = createBuildFinder({ path, folder })
  const builds = (await finder.list()).map(({ flavour, version }) => `${flavour} ${version}`)
  const broken = await finder.listBroken()
  const seen = builds.length === 0 ? 'no engine build' : `builds: ${builds.join(', ')}`
  if (builds.length === 0)
    return { check: 'builds', result: 'bad', what: seen, mend: 'fairlead engines fetch valkey' }
  const [first] = broken
  if (first === undefined) return fine('builds', seen)
  const what = `${seen}; left out ${first.program}: it ${first.why}`
  return { check: 'builds', result: 'warn', what, mend: 'fairlead engines list' }
}

function checkHome(home: string): Check {
  const place = existing(home)
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
  } catch {
    const mend = 'run Fairlead as the owner of FAIRLEAD_HOME, or name another folder'
    return { check: 'home', result: 'bad', what: `home: ${place} cannot be written by this user`, mend }
  }
  if (place !== home) return fine('home', `home: ${home} is made at the first start`)
  const isOpen = (statSync(home).mode & 0o077) !== 0
  const what = `home: ${home}${isOpen ? ' is open to other users' : ''}`
  return isOpen ? { check: 'home', result: 'warn', what, mend: `chmod 700 ${home}` } : fine('home', what)
}

async function checkDisk(home: string): Promise<Check> {
  const { bavail, blocks, bsize } = await statfs(existing(home))
  const free = bavail * bsize
  const what = `disk: ${showBytes(free)} free at ${home}`
  const isShort = free < 2 ** 30 || bavail < blocks / 20
  const mend = 'make room there, or move FAIRLEAD_HOME: a surge shard writes all data of its group again'
  return isShort ? { check: 'disk', result: 'warn', what, mend } : fine('disk', what)
}

/** The folder, or its nearest existing parent. */
function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder))
}

function checkMemory(): Check {
  const available = Number(/^MemAvailable: +(\d+) kB$/m.exec(read('/proc/meminfo'))?.[1] ?? Number.NaN)
  const free = Number.isNaN(available) ? freemem() : available * 1_024
  const what = `memory: ${showBytes(free)} available`
  if (free >= 2 ** 29) return fine('memory', what)
  const mend = 'end what is not needed: an upgrade needs the memory of one shard more'
  return { check: 'memory', result: 'warn', what, mend }
}

function checkPorts({ from, to }: Config['portRange']): Check {
  const taken = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listening(read(file))))
  const count = to - from + 1
  const free = Array.from({ length: count }, (_, n) => from + n).filter((port) => !taken.has(port)).length
  const what = `ports ${from}-${to}: ${free} free`
  if (free >= Math.min(20, count)) return fine('ports', what)
  const result = free === 0 ? 'bad' : 'warn'
  return { check: 'ports', result, what, mend: 'a wider FAIRLEAD_PORT_RANGE, like 10000-19999' }
}

/** Ports with a listening process (state 0A) in a kernel table. */
function listening(table: string): readonly number[] {
  return [...table.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /gm)].map(
    ([, port = '']) => Number.parseInt(port, 16),
  )
}

/** An engine needs a file for each of its 10,000 clients, and some more. */
const FILES = 10_240

function checkFiles(): Check {
  const most = /^Max open files +\d+ +(\w+)/m.exec(read('/proc/self/limits'))?.[1] ?? 'unknown'
  const what = `open files: ${most}`
  if (most === 'unlimited' || Number(most) >= FILES) return fine('files', what)
  if (most === 'unknown') return { check: 'files', result: 'none', what, mend: null }
  return { check: 'files', result: 'warn', what, mend: 'before the start of Fairlead: ulimit -Hn 65536' }
}

function checkOvercommit(): Check {
  const now = read('/proc/sys/vm/overcommit_memory').trim()
  const what = `vm.overcommit_memory is ${now}`
  if (now === '1') return fine('overcommit', what)
  const why = 'a snapshot or a full sync may fail when memory is short'
  const mend = 'sudo sysctl vm.overcommit_memory=1'
  return now === ''
    ? { check: 'overcommit', result: 'none', what: 'vm.overcommit_memory is not known', mend: null }
    : { check: 'overcommit', result: 'warn', what: `${what}: ${why}`, mend }
}

function checkHugePages(): Check {
  const file = '/sys/kernel/mm/transparent_hugepage/enabled'
  const now = /\[(\w+)\]/.exec(read(file))?.[1]
  if (now === undefined)
    return { check: 'huge_pages', result: 'none', what: 'there are no transparent huge pages', mend: null }
  const what = `transparent huge pages are "${now}"`
  if (now !== 'always') return fine('huge_pages', what)
  return {
    check: 'huge_pages',
    result: 'warn',
    mend: `echo madvise | sudo tee ${file}`,
    what: `${what}: write stops may get longer, where an engine does not switch them off for itself`,
  }
}

/** The text of a kernel file; empty if it does not exist. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
