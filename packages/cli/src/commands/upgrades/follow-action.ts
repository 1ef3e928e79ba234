import { setTimeout as pause } from 'node:timers/promises'
import type { Action, ActionEvent, ActionLane, LanePatch } from '@fairlead/api'
import { listenForStop, type StopReason } from '../../link/listen-for-stop.ts'
import type { Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { FOREIGN } from '../../link/refuse-foreign.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { faultTextOf } from '../../output/print-error.ts'

/** Ends of following: all groups ready, the goal serves everywhere, or the action's end. */
export const waits = ['ready', 'served', 'finalized'] as const
/** One of these ends. */
export type Wait = (typeof waits)[number]

/** The reason why following ended. */
export type Stopped = 'reached' | StopReason

/** The last state of the action, and why following ended. */
export interface Seen {
  readonly action: Action
  readonly stopped: Stopped
}

/** Called for each event with the resulting action. */
export type OnEvent = (action: Action, event: ActionEvent) => void

/**
 * Follows an action from its first event. Waits for an unreachable server; Ctrl-C and SIGTERM end only the
 * following.
 */
export async function followAction(
  { api }: Pick<Link, 'api'>,
  uid: string,
  options: { readonly wait: Wait; readonly withinMs?: number | undefined; readonly gone?: AbortSignal },
  onEvent: OnEvent = () => undefined,
): Promise<Seen> {
  using stop = listenForStop(options)
  const look = () => patiently(() => api.getAction({ params: { uid } }), stop.signal)
  let now = await look().catch((cause: unknown) => {
    throw stoppedBefore(stop.why(), uid) ?? cause
  })
  let replayed = beforeAll(now)
  try {
    for await (const event of eventsOf(api, uid, stop.signal)) {
      replayed = applyEvent(replayed, event)
      onEvent(replayed, event)
      if (!isReached(options.wait, replayed)) continue
      // A repeated event may be outdated.
      now = await look()
      if (isReached(options.wait, now)) return { action: now, stopped: 'reached' }
    }
    now = await look()
    return { action: now, stopped: 'reached' }
  } catch (cause) {
    const stopped = stop.why()
    if (stopped === undefined) throw cause
    return { action: replayed, stopped }
  }
}

/** The server did answer before. A restart takes seconds, or more on a busy machine. */
const AWAY_MS = 120_000
const PAUSE_MS = 500

/** Retries while the server is unreachable. */
async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const until = performance.now() + AWAY_MS; ; ) {
    try {
      return await work()
    } catch (cause) {
      if (signal.aborted || !isAway(cause) || performance.now() > until) throw cause
    }
    await pause(PAUSE_MS, undefined, { signal })
  }
}

/** Returns whether the server did not answer, but may later. */
export function isAway(cause: unknown): boolean {
  const { exit, code } = faultTextOf(cause)
  return exit === 'unreached' && code !== FOREIGN
}

/** A begun stream resumes automatically; its beginning needs a retry. */
async function* eventsOf(
  api: Link['api'],
  uid: string,
  signal: AbortSignal,
): AsyncGenerator<ActionEvent, void, undefined> {
  const { events, first } = await patiently(async () => {
    const begun = api.followAction({ params: { uid } }, { signal })[Symbol.asyncIterator]()
    return { events: begun, first: await begun.next() }
  }, signal)
  try {
    for (let next = first; next.done !== true; next = await events.next()) yield next.value
  } finally {
    await events.return?.()
  }
}

function stoppedBefore(stopped: StopReason | undefined, uid: string): CommandFault | undefined {
  if (stopped === undefined) return undefined
  const exit = stopped === 'time' ? 'still_running' : stopped
  return new CommandFault(exit, `It goes on without you (action ${uid}).`, {
    next: `look again  fairlead actions watch ${uid}`,
  })
}

/** Returns whether an action has come as far as the wait asks. */
export function isReached(wait: Wait, { phase, outcome }: Pick<Action, 'phase' | 'outcome'>): boolean {
  if (outcome !== null) return true
  if (wait === 'finalized') return false
  return phase === 'window' || phase === 'finishing' || (wait === 'ready' && phase === 'ready')
}

/** The action before its first event. */
function beforeAll(action: Action): Action {
  return {
    ...action,
    phase: 'queued',
    outcome: null,
    status: 'pending',
    progress: 0,
    state: '',
    hold_reason: null,
    waiting_for: '',
    waiting: null,
    window_ends: null,
    began_time: null,
    ended_time: null,
    certificates: [],
    warnings: [],
    lanes: [],
    paused: false,
    needs_person: false,
  }
}

function applyEvent(action: Action, event: ActionEvent): Action {
  if (event.type === 'action') {
    const { seq: _, type: __, time: ___, ...changed } = event
    return { ...action, ...changed }
  }
  if (event.type === 'lanes') return { ...action, lanes: applyLanes(action.lanes ?? [], event.lanes) }
  const { certificate } = event
  // It comes again with its full syncs.
  const others = action.certificates.filter(({ at, to }) => at !== certificate.at || to !== certificate.to)
  return { ...action, certificates: [...others, certificate] }
}

/** A list with a far larger index would be a sparse array that takes minutes to read. */
const MOST_STEPS = 10_000

function applyLanes(lanes: readonly ActionLane[], patches: readonly LanePatch[]): ActionLane[] {
  const changed = new Map(lanes.map((lane) => [lane.group, lane]))
  for (const { steps, steps_count, ...patch } of patches) {
    const before = changed.get(patch.group) ?? newLane(patch.group)
    const list = [...before.steps]
    for (const [place, step] of Object.entries(steps ?? {}))
      if (Number(place) < MOST_STEPS) list[Number(place)] = step
    changed.set(patch.group, { ...before, ...patch, steps: list.slice(0, steps_count ?? list.length) })
  }
  return [...changed.values()].toSorted((a, b) => a.group - b.group)
}

function newLane(group: number): ActionLane {
  return {
    group,
    state: 'waiting',
    handed_over: false,
    waiting: null,
    steps: [],
    steps_left_out: 0,
    sync: null,
    lag_bytes: null,
  }
}

/**
 * Waits for an action's end, and returns it. Throws CommandFault if it failed (`failed` describes the
 * result), and on Ctrl-C, which ends only the wait.
 */
export async function waitForEnd(
  context: Context,
  uid: string,
  failed: string,
  { failedNext }: { readonly failedNext?: string } = {},
): Promise<Action> {
  const link = await context.link()
  const { action, stopped } = await followAction(link, uid, {
    wait: 'finalized',
    gone: context.terminal.gone,
  })
  const next = `look again: fairlead actions watch ${uid}`
  if (stopped === 'interrupted' || stopped === 'terminated')
    throw new CommandFault(stopped, `It goes on without you (action ${uid}).`, { next })
  if (action.outcome === 'failed')
    throw new CommandFault('failed', `${failed}: ${action.error ?? action.waiting_for}`, {
      ...(failedNext !== undefined && { next: failedNext }),
    })
  return action
}
