import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { LoadedData, ShardSpec, TrialRequest, TrialResult } from '@fairlead/api'
import { connectEngine, type EngineConnection, messageOf, readInfo } from '@fairlead/engine'
import { createProbe } from '../engine/ask-engine.ts'
import { countData } from '../engine/count-data.ts'
import { engineTarget } from '../engine/engine-config.ts'
import type { EngineWall } from '../engine/engine-wall.ts'
import { placeSnapshot, type SnapshotFile } from '../engine/place-snapshot.ts'
import { prepareFolder, startProcess } from '../engine/start-process.ts'
import { stopProcess } from '../engine/stop-process.ts'
import { decideAppendonly } from '../folder/decide-appendonly.ts'
import { readLastWords, saysPortTaken, secretsOf } from '../folder/read-last-words.ts'
import type { ShardFolder } from '../folder/shard-folder.ts'
import type { StartedProcess } from '../process/started-process.ts'
import { missingModule, runSelfTest } from './run-self-test.ts'

const ANSWERS_WITHIN_MS = 10_000
const SERVES_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 10
const SLOTS = 16_384
const KEY = 'fairlead-trial'
const HOST = '127.0.0.1'

/** Fixed values of a trial: it follows no primary, and is not restarted. */
const alone = { revision: 'trial', replicaOf: null, onCrash: 'wait' } as const
const noData = { snapshot: false, aof: false, aofComplete: false, stoppedCleanly: false }

/** Build to try, and where. */
export interface Trial {
  readonly request: TrialRequest
  readonly program: string
  readonly wall: EngineWall
  /** Created here; the caller removes it. */
  readonly folder: ShardFolder
  /** On 127.0.0.1. */
  readonly port: number
  /** On 127.0.0.1; null if the request has no certificate. */
  readonly tlsPort: number | null
  readonly signal: AbortSignal
  /** Data to load and to count, instead of a write and a read; undefined: none. */
  readonly snapshot: SnapshotFile | undefined
}

/** The result of a trial, with the data of its snapshot, if it had one. */
export type TrialOutcome = TrialResult & { readonly data?: LoadedData }

/**
 * Starts a build with a shard's configuration in a folder without data but those of `snapshot`, and checks
 * its version, and a write and a read as the database's user. It leaves no process. Throws when aborted, or
 * if the folder cannot be written.
 */
export async function runTrial(trial: Trial): Promise<TrialOutcome> {
  const { folder, program, wall, snapshot, signal } = trial
  const spec = specOf(trial)
  if (snapshot !== undefined) await placeSnapshot(snapshot, folder, signal)
  const disk = { ...noData, snapshot: snapshot !== undefined }
  const logFrom = await prepareFolder(folder, spec, decideAppendonly(spec, disk).atStart)
  const began = performance.now()
  const startMs = () => Math.round(performance.now() - began)
  const engine = { program, modules: spec.modules, ranOutside: false }
  const child = await startProcess(folder, engine, wall).catch((cause: unknown) => messageOf(cause))
  if (typeof child === 'string') return { ok: false, why: child, startMs: startMs(), version: '' }
  try {
    const silence = await untilAnswers(child, spec, trial.signal)
    const ms = startMs()
    const { fault, version, data } =
      silence === undefined ? await examine(trial, spec) : { fault: silence, version: '' }
    if (fault === undefined) return { ok: true, why: '', startMs: ms, version, ...(data && { data }) }
    const words = await readLastWords(folder.log, logFrom, secretsOf(spec))
    const why = words === '' ? fault : `${fault}: ${words}`
    return { ok: false, why, startMs: ms, version, ...(saysPortTaken(words) && { portTaken: true }) }
  } finally {
    await end(child, spec, folder)
  }
}

function specOf({ request, port, tlsPort }: Trial): ShardSpec {
  const password = () => randomBytes(24).toString('base64url')
  const { selfTest: _, certificate, ...rest } = request
  const tls = certificate === undefined || tlsPort === null ? null : { port: tlsPort, certificate }
  return { ...alone, ...rest, tls, host: HOST, port, adminPassword: password(), userPassword: password() }
}

/** Undefined when it answers, else the reason. */
async function untilAnswers(
  child: StartedProcess,
  spec: ShardSpec,
  signal: AbortSignal,
): Promise<string | undefined> {
  using probe = createProbe()
  let end: string | undefined
  void child.ended.then((how) => {
    end = how
  })
  let until = performance.now() + ANSWERS_WITHIN_MS
  let last = 'it does not answer'
  while (performance.now() < until) {
    signal.throwIfAborted()
    const answer = await probe.ask(engineTarget(spec))
    if (end !== undefined) return end
    if (answer.kind === 'pong') return undefined
    if (answer.kind === 'busy') last = answer.why
    // It takes as long as the data are large; an engine that hangs does not say so.
    if (answer.kind === 'loading') until = performance.now() + ANSWERS_WITHIN_MS
    await delay(LOOK_EVERY_MS, undefined, { signal })
  }
  return `did not answer within ${ANSWERS_WITHIN_MS} ms: ${last}`
}

/** Returns an answering engine's version, and its fault, if any. */
async function examine(
  { signal, request, snapshot }: Trial,
  spec: ShardSpec,
): Promise<{ readonly fault: string | undefined; readonly version: string; readonly data?: LoadedData }> {
  const { address, login } = engineTarget(spec)
  const wanted = spec.build
  let version = ''
  try {
    using admin = await connectEngine({ address, login, connectTimeoutMs: ANSWERS_WITHIN_MS })
    // Each flavour except Redis also reports a Redis version, for clients that know no other.
    version = readInfo(await admin.info('server'))[`${wanted.flavour}_version`] ?? ''
    if (version !== wanted.version) {
      const found = version === '' ? 'none' : version
      const fault = `it says of itself that its ${wanted.flavour} version is ${found}, not ${wanted.version}`
      return { fault, version }
    }
    if (snapshot !== undefined) {
      const fault = await missingModule(admin, spec)
      return { fault, version, data: await countData(admin.call) }
    }
    if (spec.cluster) await takeSlots(admin, signal)
    using user = await connectEngine({
      address,
      login: { username: 'default', password: spec.userPassword },
      connectTimeoutMs: ANSWERS_WITHIN_MS,
    })
    const fault =
      (await missingModule(admin, spec)) ?? (await writeAndRead(user)) ?? (await runSelfTest(admin, request))
    return { fault, version }
  } catch (cause) {
    signal.throwIfAborted()
    return { fault: messageOf(cause), version }
  }
}

/** In cluster mode an engine accepts no key without its slot, and none in its first two seconds. */
async function takeSlots(admin: EngineConnection, signal: AbortSignal): Promise<void> {
  // All slots: the keys of a self-test are unknown.
  await admin.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: SLOTS }, (_, slot) => slot))
  const until = performance.now() + SERVES_WITHIN_MS
  for (;;) {
    const info = String(await admin.call('CLUSTER', 'INFO'))
    if (info.includes('cluster_state:ok')) return
    if (performance.now() > until)
      throw new Error(`it serves no slots in cluster mode after ${SERVES_WITHIN_MS} ms`)
    await delay(LOOK_EVERY_MS, undefined, { signal })
  }
}

async function writeAndRead(user: EngineConnection): Promise<string | undefined> {
  const value = randomBytes(8).toString('hex')
  await user.call('SET', KEY, value)
  const read = await user.call('GET', KEY)
  return read === value ? undefined : `a key was written as ${value} and read as ${String(read)}`
}

/** Runs even when aborted: a trial leaves nothing. */
async function end(child: StartedProcess, spec: ShardSpec, folder: ShardFolder): Promise<void> {
  await stopProcess({
    identity: child.identity,
    target: engineTarget(spec),
    save: false,
    data: folder.data,
    stopWithinMs: 2_000,
    hungAfterMs: 500,
    mayForce: true,
    signal: new AbortController().signal,
  })
}
