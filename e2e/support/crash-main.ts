/**
 * The server that ships, with one addition; crash-agent.ts tells it of the effects of the agent. Either it
 * ends itself with SIGKILL at point number CRASH_AT, where points are the moments just before each effect,
 * counted from 0 (the effect before is complete then); or at the point that CRASH_WHEN names, the first time
 * that it comes ("after cluster replicate"), or the CRASH_TIME-th. Or it kills what a test has armed
 * (arm-kill.ts). Or it stalls processes, itself too, at the points that STALLS names (stall.ts); STALL_LOG gets a
 * line for each. Or a fault is injected into it at the point that the file of FAULT_FILES names
 * (server-fault.ts), and logs to FAULT_LOG. Or it does nothing for 200 ms at each point that SLOW_WHEN names. With
 * POWER_CUT it also kills all other processes of its home when it ends itself: engines, proxy and agent.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createControlPlane, loadConfig } from '@fairlead/server'
import { type LogFn, type Logger, pino } from 'pino'
import { type ProcessIdentity, signalProcess } from '../../packages/agent/src/process/process-identity.ts'
import { announce, untilStopped } from '../../packages/cli/src/parts/until-stopped.ts'
import { takeKill } from './arm-kill.ts'
import { hearEffects } from './crash-agent.ts'
import { pidOfAgent } from './pid-of-agent.ts'
import { createFaultPoints } from './server-fault.ts'
import { createStalls } from './stall.ts'

const {
  CRASH_AT,
  CRASH_WHEN,
  CRASH_TIME,
  CRASH_LOG,
  POWER_CUT,
  STALLS,
  STALL_LOG,
  FAULT_FILES,
  FAULT_LOG,
  SLOW_WHEN,
  ...env
} = process.env
let points = 0
let came = 0
const stalls = createStalls(STALLS, STALL_LOG, pidOf)
const faultPoints = createFaultPoints(FAULT_FILES)
const logFile = FAULT_LOG ?? (stalls === null ? 2 : '/dev/null')

const stopped = untilStopped()
const config = loadConfig(env)
const atEffect = await hearEffects(config.home, onEffect)
const server = await createControlPlane(config, {
  now: faultPoints?.now ?? Date.now,
  log: pino(
    { level: logFile === 2 ? config.logLevel : 'debug', hooks: { logMethod: hearMoves } },
    pino.destination({ dest: logFile, sync: true }),
  ),
  onEffect: atEffect,
})
announce({ url: server.url }, '')
await stopped
await server[Symbol.asyncDispose]()
if (process.connected) process.disconnect()

function onEffect(phase: 'before' | 'after', name: string): void {
  stalls?.at(`${phase} ${name}`)
  faultPoints?.at(`${phase} ${name}`)
  if (SLOW_WHEN === `${phase} ${name}`) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  const victim = takeKill(config.home, `${phase} ${name}`)
  if (victim !== undefined) process.kill(pidOf(victim), 'SIGKILL')
  if (CRASH_WHEN === `${phase} ${name}` && ++came === Number(CRASH_TIME ?? 1)) end()
  if (CRASH_AT === undefined || phase === 'after') return
  // This comes at its start, before the first request, when it begins the turns of the existing databases.
  if (points === 0 && ['put-endpoint', 'sync-room'].includes(name)) return
  if (points === Number(CRASH_AT)) {
    if (CRASH_LOG !== undefined) appendFileSync(CRASH_LOG, `${phase} ${name}\n`)
    end()
  }
  points += 1
}

/** Only the log names the two shards of the next handover. */
function hearMoves(this: Logger, words: Parameters<LogFn>, log: LogFn): void {
  const [what] = words as readonly unknown[]
  if (typeof what === 'object' && what !== null && 'from' in what && 'to' in what)
    stalls?.begin(`s${what.from}`, `s${what.to}`)
  log.apply(this, words)
}

function pidOf(who: string): number {
  if (who === 'server') return process.pid
  return who === 'agent' ? pidOfAgent(config.home) : pidOnRecord(who)
}

/**
 * Kills all processes of a home within a moment, as in a power cut: none of them sees the death of another
 * one.
 */
function end(): void {
  if (POWER_CUT !== undefined) {
    const shards = readdirSync(join(config.home, 'shards'))
    // The agent comes first: otherwise it would record how the others end.
    process.kill(pidOfAgent(config.home), 'SIGKILL')
    for (const name of ['proxy', ...shards]) {
      const identity = identityOnRecord(name)
      if (identity !== null) signalProcess(identity, 'SIGKILL')
    }
  }
  process.kill(process.pid, 'SIGKILL')
}

function pidOnRecord(shard: string): number {
  const identity = identityOnRecord(shard)
  if (identity === null) throw new Error(`${shard} has no process on record`)
  return identity.pid
}

/** Null for a shard that was never started. */
function identityOnRecord(shard: string): ProcessIdentity | null {
  const path = join(config.home, shard === 'proxy' ? 'proxy' : join('shards', shard), 'process.json')
  if (!existsSync(path)) return null
  return (JSON.parse(readFileSync(path, 'utf8')) as { identity: ProcessIdentity | null }).identity
}
