import { randomInt } from 'node:crypto'
import type { TrialRequest, TrialResult } from '@fairlead/api'
import { createSemaphore, messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { type BuildsOfNode, findProgram } from '../builds/builds-of-node.ts'
import { BUS_DISTANCE } from '../engine/engine-config.ts'
import type { EngineWall } from '../engine/engine-wall.ts'
import type { SnapshotFile } from '../engine/place-snapshot.ts'
import type { ModuleFiles } from '../folder/module-files.ts'
import { findFreePort } from '../process/find-free-port.ts'
import { runTrial, type Trial, type TrialOutcome } from './run-trial.ts'
import { clearTrials, removeTrial, trialFolder } from './trial-folder.ts'

/** Trials of builds. Dispose to end the running ones. */
export interface Trials extends AsyncDisposable {
  /** Tries a build, in turn. A build that does not start is a result, and so is an aborted trial. */
  make(request: TrialRequest, signal: AbortSignal): Promise<TrialResult>
  /** Like `make`; the build loads a snapshot, and its data are counted. */
  load(request: TrialRequest, snapshot: SnapshotFile, signal: AbortSignal): Promise<TrialOutcome>
}

export interface TrialSettings {
  readonly home: string
  readonly builds: BuildsOfNode
  readonly modules: ModuleFiles
  readonly wall: EngineWall
  readonly logger: Logger
  /** Ports of all shards, running or not. */
  readonly takenPorts: () => readonly number[]
}

const AT_ONCE = 2
/** Below Linux's ports for outgoing connections, even with the cluster bus's distance. */
const PORTS = { from: 17_000, to: 19_999 }
/** Another program may take a port before it is bound. */
const PORTS_TRIED = 3

/** Removes what a killed agent left of its trials, and makes new ones. */
export async function openTrials(settings: TrialSettings): Promise<Trials> {
  await clearTrials(settings.home, settings.logger)
  const ending = new AbortController()
  const underWay = new Set<Promise<TrialOutcome>>()
  const inUse = new Set<number>()
  const inTurn = createSemaphore(AT_ONCE)
  const make = async (tried: Tried, gone: AbortSignal) => {
    const signal = AbortSignal.any([gone, ending.signal])
    const made = inTurn(() => tryOnPorts(settings, tried, inUse, signal), signal)
    underWay.add(made)
    try {
      return await made
    } catch (cause) {
      if (!signal.aborted) throw cause
      return { ok: false, why: 'the trial was broken off', startMs: 0, version: '' }
    } finally {
      underWay.delete(made)
    }
  }
  return {
    make: (request, gone) => make({ request, snapshot: undefined }, gone),
    load: (request, snapshot, gone) => make({ request, snapshot }, gone),
    async [Symbol.asyncDispose]() {
      ending.abort()
      await Promise.allSettled(underWay)
    },
  }
}

type Tried = Pick<Trial, 'request' | 'snapshot'>

async function tryOnPorts(
  settings: TrialSettings,
  tried: Tried,
  inUse: Set<number>,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  const { request } = tried
  let result: TrialOutcome = { ok: false, why: 'no port is free for a trial', startMs: 0, version: '' }
  for (let n = 0; n < PORTS_TRIED; n += 1) {
    const taken = [...inUse, ...settings.takenPorts()]
    const port = await choosePort(request.cluster, taken)
    if (port === null) return result
    inUse.add(port)
    const tlsPort = request.certificate === undefined ? null : await choosePort(false, [...taken, port])
    if (tlsPort !== null) inUse.add(tlsPort)
    try {
      result = await tryOn({ port, tlsPort }, settings, tried, signal)
    } finally {
      inUse.delete(port)
      if (tlsPort !== null) inUse.delete(tlsPort)
    }
    if (result.ok || result.portTaken !== true) return result
  }
  return result
}

async function tryOn(
  ports: Pick<Trial, 'port' | 'tlsPort'>,
  { home, builds, modules, wall, logger }: TrialSettings,
  { request, snapshot }: Tried,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  signal.throwIfAborted()
  const program = await readyProgram(builds, modules, request).catch((cause: unknown) => cause)
  if (typeof program !== 'string')
    return {
      ok: false,
      why: messageOf(program),
      startMs: 0,
      version: '',
    }
  const folder = trialFolder(home, ports.port)
  await folder.create()
  try {
    const result = await runTrial({ request, snapshot, program, wall, folder, ...ports, signal })
    logger.info({ build: request.build, ...result }, 'a build was tried')
    return result
  } finally {
    await removeTrial(folder)
  }
}

/** Returns the program after a check that all it loads is there. */
async function readyProgram(
  builds: BuildsOfNode,
  modules: ModuleFiles,
  request: TrialRequest,
): Promise<string> {
  const program = await findProgram(builds, request.build)
  await modules.verify(request.modules)
  return program
}

/** Begins anywhere in the range, because agents of other homes choose, too. */
async function choosePort(cluster: boolean, except: readonly number[]): Promise<number | null> {
  const range = {
    ...PORTS,
    from: randomInt(PORTS.from, PORTS.to),
    except,
    alsoFree: cluster ? [BUS_DISTANCE] : [],
  }
  return await findFreePort('127.0.0.1', range)
}
