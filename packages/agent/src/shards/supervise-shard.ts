import { isDeepStrictEqual } from 'node:util'
import {
  Refusal,
  type ShardPasswords,
  type ShardReport,
  type ShardSaving,
  type ShardSpec,
  type ShardUsers,
} from '@fairlead/api'
import { atPlace, underRequest } from '@fairlead/engine'
import type { Logger } from 'pino'
import { createProbe, type EngineTarget } from '../engine/ask-engine.ts'
import { engineTarget, portsOf } from '../engine/engine-config.ts'
import { watchEngine } from '../engine/watch-engine.ts'
import { watchSettings } from '../engine/watch-settings.ts'
import type { FoundShard } from '../folder/open-shards.ts'
import type { Baseline, ShardFolder } from '../folder/shard-folder.ts'
import { watchDisk } from '../folder/watch-disk.ts'
import { watchTrouble } from '../folder/watch-trouble.ts'
import { watchActivity } from '../process/watch-activity.ts'
import { createAttention } from './attention.ts'
import { kill, markReady, recordExit, start, stop } from './carry-out.ts'
import { decideNext, type Next } from './decide-next.ts'
import { describeShard, firstView } from './describe-shard.ts'
import { keepPasswords, passwordsOf } from './keep-passwords.ts'
import { keepSaving, savingOf } from './keep-saving.ts'
import { keepUsers } from './keep-users.ts'
import { logAct, logEnd, tellTrouble } from './log-act.ts'
import { look, lookInside, noteChanges, observationOf } from './look-at-shard.ts'
import { lookForTrouble } from './look-for-trouble.ts'
import { keepOomScore } from './oom-score.ts'
import { renewCertificate } from './renew-certificate.ts'
import type { ShardWorkplace } from './shard-workplace.ts'
import type { ShardState, Supervision, SupervisionSettings } from './supervision.ts'
import { traceStarts } from './trace-starts.ts'
import type { PlaceOfShard } from './users-of-ports.ts'
import { putSpec, want } from './want-shard.ts'
import { watchCrowd } from './watch-crowd.ts'

/** One supervised shard. Dispose to end the supervision, not the process. */
export interface SupervisedShard extends AsyncDisposable {
  readonly id: string
  /** All ports of its process, running or not. */
  readonly ports: readonly number[]
  /** Hashes of the modules of its process, and of its next one. */
  readonly modules: readonly string[]
  /** The agent's login to its last process. */
  target(): EngineTarget
  /** Accepts a spec; durable when it resolves. Refuses while the shard is being removed. */
  put(spec: ShardSpec): Promise<ShardReport>
  /** Sets the limit of its next process, not of the running one; durable when it resolves. */
  limit(limits: Pick<ShardSpec, 'memoryBytes' | 'evictionPolicy'>): Promise<void>
  /** Sets how the running and the next process save their data; durable when it resolves. */
  saveAs(saving: ShardSaving): Promise<void>
  admit(passwords: ShardPasswords): Promise<void>
  /** Sets the users of the running and the next process; durable when it resolves. */
  letIn(users: ShardUsers): Promise<void>
  /** Sets the certificate of the running and the next process; durable when it resolves. */
  certify(certificate: NonNullable<ShardSpec['tls']>['certificate']): Promise<void>
  remove(): Promise<void>
  /** Ends the process started then if it hangs (decide-silent.ts). Refuses if it answers, or is another. */
  end(startedAt: number): ShardReport
  report(): ShardReport
  /** Like `report`; for a moment, it is then looked at more often. */
  reportClosely(): ShardReport
  /** Pid of its running process. */
  readonly pid: number | null
  /** True if its engine has answered, and was not silent at the last look. */
  isUp(): boolean
  /** Place of its process, running or not. */
  place(): PlaceOfShard
  /** Path of its log. */
  readonly log: string
  /** Settings at the start of its last process; null if unknown. */
  baseline(): Promise<Baseline['settings'] | null>
}

/** Pause after a failure outside of the loop (for example a full disk). */
const AFTER_TROUBLE_MS = 1_000
/** Pause before an engine that refused to stop is asked again. */
const AFTER_REFUSAL_MS = 1_000

/**
 * Makes one shard match its wanted state until disposed: looks, decides (decide-next.ts), acts, and repeats,
 * immediately after a put, otherwise after a pause. `onRemoved` is called when its folder is removed.
 */
export function superviseShard(
  settings: SupervisionSettings,
  found: FoundShard,
  onRemoved: () => void,
): SupervisedShard {
  const { folder } = found
  const end = new AbortController()
  const log = settings.logger.child({ shard: folder.id })
  const state = firstState(found, log)
  const place = openWorkplace(settings, folder, state, end.signal)
  const running = begin({ ...sharedBy(settings), state, place, log, end, onRemoved })
  return {
    id: folder.id,
    get ports() {
      return portsOf(state.wanted.spec)
    },
    get modules() {
      const specs = [state.wanted.spec, ...(state.last ? [state.last.spec] : [])]
      return specs.flatMap(({ modules }) => modules.map(({ sha256 }) => sha256))
    },
    target: () => engineTarget((state.last ?? state.wanted).spec),
    get pid() {
      return pidOf(state)
    },
    place: () => placeOf(folder, state),
    log: folder.log,
    report: () => describeShard(folder.id, state),
    reportClosely() {
      if (state.attention.ask()) state.wake()
      return describeShard(folder.id, state)
    },
    end(startedAt) {
      orderEnd(folder.id, state, startedAt)
      return describeShard(folder.id, state)
    },
    async baseline() {
      const known = await folder.readBaseline()
      // Not the settings of an earlier process.
      return known?.startedAt === state.last?.startedAt ? (known?.settings ?? null) : null
    },
    async put(spec) {
      await putSpec(state, folder, spec)
      return describeShard(folder.id, state)
    },
    async limit(limits) {
      await want(state, folder, { spec: { ...state.wanted.spec, ...limits } })
    },
    async saveAs(saving) {
      const { spec } = state.wanted
      if (!isDeepStrictEqual(savingOf(spec), saving))
        await want(state, folder, { spec: { ...spec, ...saving } })
    },
    async admit(passwords) {
      const { spec } = state.wanted
      if (!isDeepStrictEqual(passwordsOf(spec), passwordsOf(passwords)))
        await want(state, folder, { spec: { ...spec, ...passwordsOf(passwords) } })
    },
    async letIn(users) {
      const { spec } = state.wanted
      if (!isDeepStrictEqual(spec.users, users)) await want(state, folder, { spec: { ...spec, users } })
    },
    async certify(certificate) {
      const { spec } = state.wanted
      if (spec.tls !== null)
        await want(state, folder, { spec: { ...spec, tls: { ...spec.tls, certificate } } })
    },
    remove: () => want(state, folder, { gone: true }),
    isUp: () => answers(state),
    async [Symbol.asyncDispose]() {
      end.abort()
      state.wake()
      await running
    },
  }
}

function placeOf({ path }: ShardFolder, state: ShardState): PlaceOfShard {
  const { host, port } = (state.last ?? state.wanted).spec
  return { folder: path, host, port, pid: pidOf(state) }
}

function orderEnd(id: string, state: ShardState, startedAt: number): void {
  if (state.silence === null || state.last?.startedAt !== startedAt)
    throw new Refusal('unavailable', `shard ${id} answers, or has another process by now`)
  state.toEnd = startedAt
  state.wake()
}

function sharedBy(settings: SupervisionSettings): Pick<Supervision, 'changes' | 'statistics' | 'sleeper'> {
  const { changes, statistics, ticker } = settings
  return { changes, statistics, sleeper: ticker.join() }
}

function pidOf({ last }: ShardState): number | null {
  return last?.identity && !last.ended ? last.identity.pid : null
}

function answers(state: ShardState): boolean {
  return pidOf(state) !== null && state.last?.answeredAt != null && state.silence === null
}

function firstState({ folder, wanted, last }: FoundShard, log: Logger): ShardState {
  return {
    wanted,
    last,
    view: firstView(last),
    refusal: null,
    trouble: watchTrouble(folder.log),
    silence: null,
    toEnd: null,
    disk: watchDisk(folder.data),
    crowd: watchCrowd(log),
    engine: watchEngine(),
    settings: watchSettings(),
    isSeen: false,
    told: [],
    attention: createAttention(),
    starts: traceStarts(folder.id),
    wake: () => undefined,
  }
}

function openWorkplace(
  { builds, modules, wall, silence, stopWithinMs, onProcess }: SupervisionSettings,
  folder: ShardFolder,
  state: ShardState,
  signal: AbortSignal,
): ShardWorkplace {
  const probe = createProbe(() => {
    if (state.attention.ended()) state.wake()
  })
  return {
    folder,
    builds,
    modules,
    wall,
    silence,
    stopWithinMs,
    probe,
    signal,
    activity: watchActivity(),
    proven: null,
    child: null,
    killedBecause: null,
    ordered: null,
    scored: '',
    async save(record) {
      await folder.writeProcess(record)
      state.last = record
      onProcess()
    },
  }
}

/** Work and logs belong to no request: the one that has put the shard ends soon. */
function begin(supervision: Supervision): Promise<void> {
  return atPlace(undefined, () => underRequest(undefined, () => loop(supervision)))
}

async function loop(supervision: Supervision): Promise<void> {
  const { state, place, end, sleeper } = supervision
  using _ = place.probe
  while (!end.signal.aborted) {
    // Created before the look, so that a put during the turn ends the next pause.
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
    state.wake = wake
    const afterMs = await turn(supervision)
    noteChanges(supervision)
    if (afterMs === 0 || end.signal.aborted) continue
    const endRest = sleeper.rest(afterMs, wake)
    await woken
    endRest()
  }
}

/** Looks once and acts. Returns the pause before the next look in ms. */
async function turn(supervision: Supervision): Promise<number> {
  const { state, place, log, end } = supervision
  try {
    const { order } = state.wanted
    const next = decideNext(await look(state, place))
    if (next.kind === 'rest') {
      const isRunning = next.state === 'running'
      // A silent process would only cause another wait.
      if (isRunning && state.silence === null) await lookInside(state, place)
      const { changed, struggles } = state.engine
      const isClose = state.attention.look(isRunning && next.isWell && !changed && !struggles)
      if (isClose) await state.disk.look(state.last)
      // After a put in the meantime, this view is outdated: keep the put's.
      if (order === state.wanted.order) state.view = next
      if (isRunning) {
        await renewCertificate(place, state.wanted.spec, state.last)
        await keepPasswords(place, state.wanted.spec, state.last)
        await keepUsers(place, state.wanted.spec, state.last, log)
        await keepSaving(place, state.wanted.spec, state.last)
      }
      await keepOomScore(place, state.wanted.spec, state.last)
      if (isClose) await lookForTrouble(state)
      return state.attention.pauseMs(next.afterMs)
    }
    await act(supervision, next)
    return 0
  } catch (cause) {
    if (end.signal.aborted) return 0
    const why = tellTrouble(cause)
    if (state.view.why !== why) log.error({ err: cause }, 'shard cannot be supervised; trying again')
    state.view = { ...state.view, why }
    return AFTER_TROUBLE_MS
  }
}

async function act(supervision: Supervision, next: Exclude<Next, { kind: 'rest' }>): Promise<void> {
  const { state, place, log } = supervision
  const { last } = state
  logAct(log, next, last)
  switch (next.kind) {
    case 'start':
      state.view = { state: 'starting', why: '' }
      state.starts.begins()
      return await startNext(supervision)
    case 'stop':
      state.view = { state: 'stopping', why: next.why }
      return await stopLast(supervision, next.save)
    case 'kill':
      return last?.identity ? await kill(place, last.identity, next.why) : undefined
    case 'record-exit':
      await recordLastExit(supervision)
      state.starts.ends(true)
      return logEnd(log, state.last)
    case 'mark-ready':
      state.starts.ends(false)
      return last ? await markReady(place, last) : undefined
    case 'delete':
      await place.folder.remove()
      supervision.changes.gone(place.folder.id)
      supervision.statistics.gone(place.folder.id)
      supervision.end.abort()
      supervision.onRemoved()
  }
}

/** End, files and view form one report. The shard does not count as running until it is recorded. */
async function recordLastExit({ state, place }: Supervision): Promise<void> {
  if (!state.last) return
  state.view = { ...state.view, state: 'starting' }
  await state.disk.look(state.last)
  await recordExit(place, state.wanted, state.last)
  const next = decideNext(observationOf(state, 'gone'))
  state.view = next.kind === 'rest' ? next : { state: 'starting', why: '' }
}

async function startNext({ state, place, log }: Supervision): Promise<void> {
  await start(place, state.wanted, state.last)
  const failure = state.last?.ended
  if (failure) {
    state.starts.ends(true)
    log.error({ why: failure.why }, 'shard process cannot be started')
  }
  // So its death is noticed before the next look.
  void place.child?.ended.then(() => state.wake())
}

async function stopLast({ state, place, log }: Supervision, save: boolean): Promise<void> {
  if (!state.last) return
  const { refused } = await stop(place, state.wanted, state.last, save)
  if (refused !== undefined && state.refusal?.why !== refused)
    log.warn({ why: refused }, 'shard process does not stop yet; it is asked again')
  if (refused === undefined && state.refusal !== null) log.info('shard process has stopped after all')
  state.refusal = refused === undefined ? null : { why: refused, until: performance.now() + AFTER_REFUSAL_MS }
}
