import { Refusal, type ShardReport, type WantedShard } from '@fairlead/api'
import type { Logger } from 'pino'
import type { BuildsOfNode } from '../builds/builds-of-node.ts'
import { type Answer, createPulse } from '../engine/ask-engine.ts'
import type { Silence } from '../engine/decide-silent.ts'
import { engineTarget, portsOf } from '../engine/engine-config.ts'
import type { EngineWall } from '../engine/engine-wall.ts'
import type { ModuleFiles } from '../folder/module-files.ts'
import type { Baseline, ProcessRecord, ShardFolder, WantedRecord } from '../folder/shard-folder.ts'
import { type DiskWatch, watchDisk } from '../folder/watch-disk.ts'
import { type TroubleWatch, watchTrouble } from '../folder/watch-trouble.ts'
import { isAlive } from '../process/process-identity.ts'
import { watchActivity } from '../process/watch-activity.ts'
import { bury, kill, start, stop, welcome } from './carry-out.ts'
import { decideNext, type Next, type ShardSight } from './decide-next.ts'
import { describeShard, firstView, type View } from './describe-shard.ts'
import { logAct, logEnd } from './log-act.ts'
import { keepOomScore } from './oom-score.ts'
import { renewCertificate } from './renew-certificate.ts'
import { type SilenceRules, seeSilence } from './see-silence.ts'
import type { ShardWorkplace } from './shard-workplace.ts'
import { putWish, want } from './want-shard.ts'
import { type CrowdWatch, watchCrowd } from './watch-crowd.ts'

/** What all supervisors of a node share; times are milliseconds. */
export interface SupervisionSettings {
  readonly builds: BuildsOfNode
  readonly modules: ModuleFiles
  readonly wall: EngineWall
  readonly logger: Logger
  readonly silence: SilenceRules
  readonly stopWithinMs: number
}

/** One shard under supervision. Disposing of it ends the supervision, not the process. */
export interface SupervisedShard extends AsyncDisposable {
  readonly id: string
  /** All that its process listens on, whether it runs or not. */
  readonly ports: readonly number[]
  /** The files that its process has, or its next one will have, by their hashes. */
  readonly modules: readonly string[]
  /** Takes a wish. It is durable when this resolves. Refuses while the shard is being removed. */
  put(wish: WantedShard): Promise<ShardReport>
  /** Takes another limit for its next process; the one that runs is not touched. It is durable when this resolves. */
  limit(limits: Pick<WantedShard, 'memoryBytes' | 'evictionPolicy'>): Promise<void>
  /** Takes another certificate, for the process that runs and for the next. It is durable when this resolves. */
  certify(certificate: NonNullable<WantedShard['tls']>['certificate']): Promise<void>
  remove(): Promise<void>
  /** Ends the process that was started then, if it hangs: see decide-silent.ts. Refuses when it is not that one, or answers. */
  end(startedAt: number): ShardReport
  report(): ShardReport
  /** The settings with which its last process began; null when they are not known. */
  baseline(): Promise<Baseline['settings'] | null>
}

/** How soon the loop tries again after the world has failed it (a full disk, say). */
const AFTER_TROUBLE_MS = 1_000
/** How soon an engine that refused to stop is asked again. */
const AFTER_REFUSAL_MS = 1_000

/** What changes while a shard is supervised. */
interface ShardState {
  wanted: WantedRecord
  last: ProcessRecord | null
  view: View
  refusal: { readonly why: string; readonly until: number } | null
  /** While its process answers nobody. */
  silence: Silence | null
  /** The server wants the process that was started then to end, if it hangs. Unix milliseconds. */
  toEnd: number | null
  readonly trouble: TroubleWatch
  readonly crowd: CrowdWatch
  readonly disk: DiskWatch
  /** Ends the rest of the loop. */
  wake: () => void
}

interface Supervision {
  readonly state: ShardState
  readonly place: ShardWorkplace
  readonly log: Logger
  readonly end: AbortController
  readonly onRemoved: () => void
}

/**
 * Makes one shard what is wanted, for as long as it is not disposed of: looks, decides (decide-next.ts), acts, and
 * looks again; at once when something was put, otherwise after a while. `onRemoved` is called once its folder is gone.
 */
export function superviseShard(
  settings: SupervisionSettings,
  found: { readonly folder: ShardFolder; readonly wanted: WantedRecord; readonly last: ProcessRecord | null },
  onRemoved: () => void,
): SupervisedShard {
  const { folder, wanted, last } = found
  const end = new AbortController()
  const log = settings.logger.child({ shard: folder.id })
  const state: ShardState = {
    ...{ wanted, last, view: firstView(last), refusal: null, trouble: watchTrouble(folder.log) },
    ...{ silence: null, toEnd: null, disk: watchDisk(folder.data), crowd: watchCrowd(log) },
    wake: () => undefined,
  }
  const place = openWorkplace(settings, folder, state, end.signal)
  const running = loop({ state, place, log, end, onRemoved })
  return {
    id: folder.id,
    get ports() {
      return portsOf(state.wanted.wish)
    },
    get modules() {
      const wishes = [state.wanted.wish, ...(state.last ? [state.last.wish] : [])]
      return wishes.flatMap(({ modules }) => modules.map(({ sha256 }) => sha256))
    },
    report: () => describeShard(folder.id, state),
    end(startedAt) {
      if (state.silence === null || state.last?.startedAt !== startedAt)
        throw new Refusal('unavailable', `shard ${folder.id} answers, or has another process by now`)
      state.toEnd = startedAt
      state.wake()
      return describeShard(folder.id, state)
    },
    async baseline() {
      const known = await folder.readBaseline()
      // Of a process before this one it says nothing about this one.
      return known?.startedAt === state.last?.startedAt ? (known?.settings ?? null) : null
    },
    async put(wish) {
      await putWish(state, folder, wish)
      return describeShard(folder.id, state)
    },
    async limit(limits) {
      await want(state, folder, { wish: { ...state.wanted.wish, ...limits } })
    },
    async certify(certificate) {
      const { wish } = state.wanted
      if (wish.tls !== null)
        await want(state, folder, { wish: { ...wish, tls: { ...wish.tls, certificate } } })
    },
    async remove() {
      await want(state, folder, { gone: true })
    },
    async [Symbol.asyncDispose]() {
      end.abort()
      state.wake()
      await running
    },
  }
}

function openWorkplace(
  { builds, modules, wall, silence, stopWithinMs }: SupervisionSettings,
  folder: ShardFolder,
  state: ShardState,
  signal: AbortSignal,
): ShardWorkplace {
  const pulse = createPulse()
  return {
    ...{ folder, builds, modules, wall, silence, stopWithinMs, pulse, signal, activity: watchActivity() },
    child: null,
    killedBecause: null,
    scored: '',
    async save(record) {
      await folder.writeProcess(record)
      state.last = record
    },
  }
}

async function loop(supervision: Supervision): Promise<void> {
  const { state, place, end } = supervision
  using _ = place.pulse
  while (!end.signal.aborted) {
    // Made before the look: what is put during the turn is not slept through.
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
    state.wake = wake
    const afterMs = await turn(supervision)
    if (afterMs === 0 || end.signal.aborted) continue
    const timer = setTimeout(wake, afterMs)
    await woken
    clearTimeout(timer)
  }
}

/** One look and what follows from it. Answers after how many milliseconds to look again. */
async function turn(supervision: Supervision): Promise<number> {
  const { state, place, log, end } = supervision
  try {
    const { order } = state.wanted
    const next = decideNext(await look(state, place))
    if (next.kind === 'rest') {
      await state.disk.look(state.last)
      // What was put meanwhile is not yet in this view: leave what the put has said.
      if (order === state.wanted.order) state.view = next
      if (next.state === 'running') await renewCertificate(place, state.wanted.wish, state.last)
      if (next.state === 'running') await state.crowd.look(place.pulse, state.last)
      await keepOomScore(place, state.wanted.wish, state.last)
      await lookForTrouble(state)
      return next.afterMs
    }
    await act(supervision, next)
    return 0
  } catch (cause) {
    if (end.signal.aborted) return 0
    const why = cause instanceof Error ? cause.message : String(cause)
    if (state.view.why !== why) log.error({ err: cause }, 'shard cannot be supervised; trying again')
    state.view = { ...state.view, why }
    return AFTER_TROUBLE_MS
  }
}

async function lookForTrouble({ last, wanted, trouble }: ShardState): Promise<void> {
  if (!last?.identity || last.ended) return
  const secrets = [last.wish, wanted.wish].flatMap((wish) => [wish.adminPassword, wish.userPassword])
  await trouble.look({ ...last, secrets })
}

async function look(state: ShardState, place: ShardWorkplace): Promise<ShardSight> {
  const { last } = state
  const here = last?.identity && !last.ended && isAlive(last.identity)
  const answer = here && last ? await ask(state, last, place) : 'gone'
  state.silence = answer !== 'gone' && answer.kind === 'silent' ? answer.silence : null
  return sightOf(state, answer)
}

function sightOf({ wanted, last, refusal }: ShardState, answer: ShardSight['answer']): ShardSight {
  return {
    now: Date.now(),
    wanted: { order: wanted.order, gone: wanted.gone, onCrash: wanted.wish.onCrash },
    last: last && { ...last, started: last.identity !== null, answered: last.answeredAt !== null },
    answer,
    refusedToStop: refusal && performance.now() < refusal.until ? refusal.why : null,
  }
}

async function ask(state: ShardState, last: ProcessRecord, place: ShardWorkplace): Promise<Answer | 'gone'> {
  const { folder, activity, silence: rules } = place
  const answer = await place.pulse.ask(engineTarget(last.wish))
  if (answer.kind !== 'silent') {
    activity.forget()
    state.toEnd = null
    return answer
  }
  const { wish } = state.wanted
  const ordered = state.toEnd === last.startedAt
  const silence = await seeSilence({ last, wish, folder, forMs: answer.forMs, ordered, activity }, rules)
  return silence === null ? 'gone' : { kind: 'silent', silence }
}

async function act(supervision: Supervision, next: Exclude<Next, { kind: 'rest' }>): Promise<void> {
  const { state, place, log } = supervision
  const { last } = state
  logAct(log, next, last)
  switch (next.kind) {
    case 'start':
      state.view = { state: 'starting', why: '' }
      return await startNext(supervision)
    case 'stop':
      state.view = { state: 'stopping', why: next.why }
      return await stopLast(supervision, next.save)
    case 'kill':
      if (last?.identity) await kill(place, last.identity, next.why)
      return
    case 'bury':
      await buryLast(supervision)
      return logEnd(log, state.last)
    case 'welcome':
      if (last) await welcome(place, last)
      return
    case 'delete':
      await place.folder.remove()
      supervision.end.abort()
      supervision.onRemoved()
  }
}

/** Its end, what it left, and the view of it are one report. */
async function buryLast({ state, place }: Supervision): Promise<void> {
  if (!state.last) return
  await state.disk.look(state.last)
  await bury(place, state.wanted, state.last)
  const next = decideNext(sightOf(state, 'gone'))
  state.view = next.kind === 'rest' ? next : { state: 'starting', why: '' }
}

async function startNext({ state, place, log }: Supervision): Promise<void> {
  await start(place, state.wanted, state.last)
  const failure = state.last?.ended
  if (failure) log.error({ why: failure.why }, 'shard process cannot be started')
  // Its death is news at once, not at the next look.
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
