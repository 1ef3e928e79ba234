import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ProxyState } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { describeEnd } from '../engine/start-process.ts'
import { waitForEnd } from '../engine/stop-process.ts'
import { boundLogs } from '../process/bound-log.ts'
import { nextStreak } from '../process/decide-restart.ts'
import { readLog } from '../process/engine-log.ts'
import { checkSocketPath } from '../process/hold-socket.ts'
import { isAlive, signalProcess } from '../process/process-identity.ts'
import { prepareLog, startDetached } from '../process/start-detached.ts'
import type { StartedProcess } from '../process/started-process.ts'
import { type ActivityWatch, watchActivity } from '../process/watch-activity.ts'
import { createProxyProbe, type ProxyProbe } from './ask-proxy.ts'
import { decideProxy, type NextOfProxy, type ProxyObservation } from './decide-proxy.ts'
import { type ProxyFolder, type ProxyRecord, proxyFolder } from './proxy-folder.ts'
import type { ProxyWall } from './proxy-wall.ts'
import { readLastError } from './read-last-error.ts'
import { createTurnsReader, type TurnsReader } from './read-turns.ts'

export interface ProxySettings {
  readonly home: string
  /** Program and arguments, without the home. */
  readonly program: readonly string[]
  readonly wall: ProxyWall
  /** Version of our software, to log that an adopted process has another. */
  readonly version: string
  readonly logger: Logger
  readonly hungAfterMs: number
  /** Called before looks, once a second if it runs: its socket may have been replaced. */
  readonly onLook?: () => Promise<void>
  /** Called after each look. */
  readonly onSeen?: (state: ProxyState) => void
}

/** The supervised proxy. Dispose to end the supervision, not the process. */
export interface SupervisedProxy extends AsyncDisposable {
  report(): ProxyState
}

/** Pause after a failure outside of the loop (for example a full disk). */
const AFTER_TROUBLE_MS = 1_000
const PREPARE_EVERY_MS = 1_000

interface Supervision {
  readonly settings: ProxySettings
  readonly folder: ProxyFolder
  readonly probe: ProxyProbe
  readonly turns: TurnsReader
  /** Activity of the process while it is silent. */
  readonly activity: ActivityWatch
  readonly log: Logger
  readonly end: AbortController
  last: ProxyRecord | null
  view: Pick<ProxyState, 'state' | 'why'>
  /** Time of the last `onLook` (performance.now()). */
  preparedAt: number
  /** The last process that this agent has started. */
  child: StartedProcess | null
  /** Reason why we killed the last process, if so. */
  killedBecause: string | null
  /** Ends the rest of the loop. */
  wake: () => void
}

/**
 * Keeps one proxy process running on home/proxy until disposed: adopts a running one, starts one if there is
 * none, and kills one that does not answer. Throws if its socket's path is too long.
 */
export async function superviseProxy(settings: ProxySettings): Promise<SupervisedProxy> {
  const folder = proxyFolder(settings.home)
  checkSocketPath(folder.socket, 'proxy')
  await folder.create()
  const log = settings.logger.child({ part: 'proxy' })
  const last = await folder.read().catch((cause: unknown) => {
    // Its process is found without it.
    log.error({ err: cause }, 'the record of the proxy process is ignored')
    return null
  })
  const supervision: Supervision = {
    settings,
    folder,
    log,
    last,
    probe: createProxyProbe(folder.socket),
    end: new AbortController(),
    turns: createTurnsReader(folder.turnsSocket),
    activity: watchActivity(),
    view: { state: 'starting', why: '' },
    preparedAt: 0,
    child: null,
    killedBecause: null,
    wake: () => undefined,
  }
  if (last?.identity && !last.ended && isAlive(last.identity)) reportAdoption(supervision, last)
  const running = loop(supervision)
  const logs = boundLogs(() => [folder.log], log)
  return {
    report: () => describe(supervision),
    async [Symbol.asyncDispose]() {
      supervision.end.abort()
      supervision.wake()
      await logs[Symbol.asyncDispose]()
      await running
    },
  }
}

function describe({ last, view }: Supervision): ProxyState {
  const pid = last?.ended ? null : (last?.identity?.pid ?? null)
  const { crashes = 0, diedBefore } = last ?? {}
  return { ...view, pid, crashes, ...(diedBefore && { diedBefore }) }
}

function reportAdoption({ settings: { program, version }, log }: Supervision, record: ProxyRecord): void {
  const fields = { pid: record.identity?.pid }
  const isSame = record.version === version && isDeepStrictEqual(record.program, program)
  if (isSame) log.info(fields, 'proxy process is adopted')
  // It is not replaced, because its clients would have to reconnect.
  else
    log.warn(
      { ...fields, runs: record.version, would: version, program },
      'proxy process of another version is adopted; the next one to be started is of this version',
    )
}

async function loop(supervision: Supervision): Promise<void> {
  const { signal } = supervision.end
  while (!signal.aborted) {
    // Created before the look, so that a death during the turn ends the next pause.
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
    supervision.wake = wake
    const afterMs = await turn(supervision)
    supervision.settings.onSeen?.(describe(supervision))
    if (afterMs === 0 || signal.aborted) continue
    const timer = setTimeout(wake, afterMs)
    await woken
    clearTimeout(timer)
  }
}

/** Looks once and acts. Returns the pause before the next look in ms. */
async function turn(supervision: Supervision): Promise<number> {
  const { end, log } = supervision
  try {
    await beforeLook(supervision)
    const next = decideProxy(await look(supervision))
    if (next.kind === 'rest') {
      supervision.view = { state: next.state, why: next.why }
      return next.afterMs
    }
    await act(supervision, next)
    return 0
  } catch (cause) {
    if (end.signal.aborted) return 0
    const why = messageOf(cause)
    if (supervision.view.why !== why) log.error({ err: cause }, 'proxy cannot be supervised; trying again')
    supervision.view = { ...supervision.view, why }
    return AFTER_TROUBLE_MS
  }
}

/** A running process keeps its socket, but the name may have been removed. */
async function beforeLook(supervision: Supervision): Promise<void> {
  const now = performance.now()
  if (supervision.view.state === 'running' && now - supervision.preparedAt < PREPARE_EVERY_MS) return
  supervision.preparedAt = now
  await supervision.settings.onLook?.()
}

async function look(supervision: Supervision): Promise<ProxyObservation> {
  const { last, child, settings } = supervision
  const here = last?.identity && !last.ended && isAlive(last.identity)
  return {
    now: Date.now(),
    last: last && { ...last, started: last.identity !== null, answered: last.answeredAt !== null },
    answer: here && last?.identity ? await ask(last.identity.pid, supervision) : 'gone',
    isChild: last?.identity != null && isDeepStrictEqual(child?.identity, last.identity),
    hungAfterMs: settings.hungAfterMs,
  }
}

async function ask(
  pid: number,
  { probe, activity, turns }: Pick<Supervision, 'probe' | 'activity' | 'turns'>,
): Promise<ProxyObservation['answer']> {
  const answer = await probe.ask(pid)
  if (answer === 'answers') {
    activity.forget()
    turns.forget()
    return answer
  }
  const said = await turns.ask(pid)
  // The process counts as idle only while even its heartbeat thread is silent.
  if (!('muteMs' in said)) activity.forget()
  const seen = activity.look(pid, performance.now())
  return seen === null ? 'gone' : { ...answer, activity: seen, turns: said }
}

async function act(supervision: Supervision, next: Exclude<NextOfProxy, { kind: 'rest' }>): Promise<void> {
  const { last, log, end } = supervision
  switch (next.kind) {
    case 'start':
      supervision.view = { state: 'starting', why: '' }
      return await start(supervision, next.why)
    case 'kill':
      log.warn({ pid: last?.identity?.pid, why: next.why }, 'proxy process is killed')
      supervision.killedBecause = next.why
      if (!last?.identity) return
      signalProcess(last.identity, 'SIGKILL')
      await waitForEnd(last.identity, 2_000, end.signal)
      return
    case 'record-exit':
      if (last) await recordExit(supervision, last)
      return
    case 'mark-ready':
      if (last) await save(supervision, { ...last, answeredAt: Date.now() })
      await supervision.settings.wall.answers(supervision.folder)
      log.info({ pid: last?.identity?.pid }, 'proxy process answers')
  }
}

async function start(supervision: Supervision, why: string): Promise<void> {
  const { settings, folder, probe, last, log } = supervision
  probe.forget()
  supervision.turns.forget()
  supervision.activity.forget()
  supervision.killedBecause = null
  supervision.child = null
  const { program, version } = settings
  const first = { identity: null, startedAt: Date.now(), answeredAt: null, ended: null }
  const counts = {
    crashes: last?.ended?.how === 'stopped' ? 0 : (last?.crashes ?? 0),
    streak: last?.streak ?? 0,
    ...(last?.ended?.how === 'died' && { diedBefore: { at: last.ended.at, why: last.ended.why } }),
  }
  // An unrecorded proxy holds the home, and would prevent another: its agent died right after its start.
  const found = folder.find()
  if (found !== null) {
    const { end: logFrom } = await readLog(folder.log, Number.MAX_SAFE_INTEGER, 0)
    const unknown = { program: [], version: '', logFrom }
    const origin = last === null || last.ended ? unknown : last
    const record = { ...origin, ...first, ...counts, identity: found }
    await save(supervision, record)
    return reportAdoption(supervision, record)
  }
  const logFrom = await prepareLog(folder.log)
  const record: ProxyRecord = { ...first, ...counts, program: [...program], version, logFrom }
  // Recorded before its start, so that its command is known even if its pid is not.
  await save(supervision, record)
  try {
    const { pid } = await launch(supervision, record)
    log.info({ pid, why }, 'proxy process is started')
  } catch (cause) {
    const end = messageOf(cause)
    log.error({ why: end }, 'proxy process cannot be started')
    await save(supervision, asDied(record, end))
  }
}

/** Starts the process behind its wall, and records its identity. */
async function launch(supervision: Supervision, record: ProxyRecord) {
  const { settings, folder, last } = supervision
  const isDoubted = last?.ended?.how === 'died' && last.answeredAt === null
  const { program, args, folder: cwd } = await settings.wall.place(folder, settings.program, isDoubted)
  // Node's compile cache: the next process serves sooner, and takes 20 MB less.
  const env = { NODE_COMPILE_CACHE: join(cwd, 'cache') }
  const child = await startDetached({ program, args, cwd, log: folder.log, env })
  supervision.child = child
  // So its death is noticed before the next look.
  void child.ended.then(() => supervision.wake())
  await save(supervision, { ...record, identity: child.identity })
  return child.identity
}

/** Records how the process ended. */
async function recordExit(supervision: Supervision, last: ProxyRecord): Promise<void> {
  const { child, killedBecause, folder, log } = supervision
  const how = killedBecause ?? (await describeEnd(child, last.identity))
  const words = await readLastError(folder.log, last.logFrom)
  const why = words === '' ? how : `${how}: ${words}`
  await save(supervision, asDied(last, why))
  log.warn({ pid: last.identity?.pid, why, crashes: supervision.last?.crashes }, 'proxy process ended')
}

function asDied(record: ProxyRecord, why: string): ProxyRecord {
  const at = Date.now()
  return {
    ...record,
    ended: { at, how: 'died', why },
    crashes: record.crashes + 1,
    streak: nextStreak(record, at),
  }
}

async function save(supervision: Supervision, record: ProxyRecord): Promise<void> {
  await supervision.folder.write(record)
  supervision.last = record
}
