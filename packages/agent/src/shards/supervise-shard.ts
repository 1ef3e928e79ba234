import { Refusal, type ShardReport, type ShardSpec } from '@fairlead/api'
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

/** One shard under supervision. Disposing of it ends the supervision, not the process. */
export interface SupervisedShard extends AsyncDisposable {
  readonly id: string
  /** All that its process listens on, whether it runs or not. */
  readonly ports: readonly number[]
  /** The files that its process has, or its next one will have, by their hashes. */
  readonly modules: readonly string[]
  /** How the agent signs in to its last process. */
  target(): EngineTarget
  /** Takes a spec. It is durable when this resolves. Refuses while the shard is being removed. */
  put(spec: ShardSpec): Promise<ShardReport>
  /** Takes another limit for its next process; the one that runs is not touched. It is durable when this resolves. */
  limit(limits: Pick<ShardSpec, 'memoryBytes' | 'evictionPolicy'>): Promise<void>
  /** Takes another certificate, for the process that runs and for the next. It is durable when this resolves. */
  certify(certificate: NonNullable<ShardSpec['tls']>['certificate']): Promise<void>
  remove(): Promise<void>
  /** Ends the process that was started then, if it hangs: see decide-silent.ts. Refuses when it is not that one, or answers. */
  end(startedAt: number): ShardReport
  report(): ShardReport
  /** The same; it is looked at more often for a moment. */
  reportClosely(): ShardReport
  /** Of its process, while it is there. */
  readonly pid: number | null
  /** Its engine has answered, and is not silent by the last look. */
  isUp(): boolean
  /** Where its process is, or would be. */
  place(): PlaceOfShard
  /** The path of its log. */
  readonly log: string
  /** The settings with which its last process began; null when they are not known. */
  baseline(): Promise<Baseline['settings'] | null>
}

/** How soon the loop tries again after a failure outside of it (a full disk, for example). */
const AFTER_TROUBLE_MS = 1_000
/** How soon an engine that refused to stop is asked again. */
const AFTER_REFUSAL_MS = 1_000

/**
 * Makes one shard what is wanted, for as long as it is not disposed of: looks, decides (decide-next.ts), acts, and
 * looks again; at once when something was put, otherwise after a while. `onRemoved` is called once its folder is gone.
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
      // Of a process before this one it says nothing about this one.
      return known?.startedAt === state.last?.startedAt ? (known?.settings ?? null) : null
    },
    async put(spec) {
      await putSpec(state, folder, spec)
      return describeShard(folder.id, state)
    },
    async limit(limits) {
      await want(state, folder, { spec: { ...state.wanted.spec, ...limits } })
    },
    async certify(certificate) {
      const { spec } = state.wanted
      if (spec.tls !== null)
        await want(state, folder, { spec: { ...spec, tls: { ...spec.tls, certificate } } })
    },
    ...{ remove: () => want(state, folder, { gone: true }), isUp: () => answers(state) },
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

function sharedBy(settings: SupervisionSettings): Pick<Supervision, 'changes' | 'statistics' | 'rests'> {
  const { changes, statistics, beat } = settings
  return { changes, statistics, rests: beat.join() }
}

function pidOf({ last }: ShardState): number | null {
  return last?.identity && !last.ended ? last.identity.pid : null
}

function answers(state: ShardState): boolean {
  return pidOf(state) !== null && state.last?.answeredAt != null && state.silence === null
}

function firstState({ folder, wanted, last }: FoundShard, log: Logger): ShardState {
  return {
    ...{ wanted, last, view: firstView(last), refusal: null, trouble: watchTrouble(folder.log) },
    ...{ silence: null, toEnd: null, disk: watchDisk(folder.data), crowd: watchCrowd(log) },
    ...{ engine: watchEngine(), settings: watchSettings(), isSeen: false, told: [] },
    ...{ attention: createAttention(), starts: traceStarts(folder.id) },
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
    ...{ folder, builds, modules, wall, silence, stopWithinMs, probe, signal, activity: watchActivity() },
    proven: null,
    child: null,
    killedBecause: null,
    scored: '',
    async save(record) {
      await folder.writeProcess(record)
      state.last = record
      onProcess()
    },
  }
}

/** What it logs, and what it does, is of no request: the one that has put the shard is over soon. */
function begin(supervision: Supervision): Promise<void> {
  return atPlace(undefined, () => underRequest(undefined, () => loop(supervision)))
}

async function loop(supervision: Supervision): Promise<void> {
  const { state, place, end, rests } = supervision
  using _ = place.probe
  while (!end.signal.aborted) {
    // Made before the look, so that a put during the turn ends the next pause.
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
    state.wake = wake
    const afterMs = await turn(supervision)
    noteChanges(supervision)
    if (afterMs === 0 || end.signal.aborted) continue
    const endRest = rests.rest(afterMs, wake)
    await woken
    endRest()
  }
}

/** One look and what follows from it. Answers after how many milliseconds to look again. */
async function turn(supervision: Supervision): Promise<number> {
  const { state, place, log, end } = supervision
  try {
    const { order } = state.wanted
    const next = decideNext(await look(state, place))
    if (next.kind === 'rest') {
      const isRunning = next.state === 'running'
      // A silent process would only be waited for once more.
      if (isRunning && state.silence === null) await lookInside(state, place)
      const { changed, struggles } = state.engine
      const isClose = state.attention.look(isRunning && next.isWell && !changed && !struggles)
      if (isClose) await state.disk.look(state.last)
      // What was put meanwhile is not yet in this view: leave what the put has said.
      if (order === state.wanted.order) state.view = next
      if (isRunning) await renewCertificate(place, state.wanted.spec, state.last)
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

/** Its end, what it left, and the view of it are one report. It does not count as running while that cannot be written down. */
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
  // Its death is noticed at once, not at the next look.
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
