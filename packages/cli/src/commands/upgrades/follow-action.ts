import { setTimeout as pause } from 'node:timers/promises'
import type { Action, ActionEvent, ActionLane, LanePatch } from '@fairlead/api'
import { listenForStop, type StopReason } from '../../link/listen-for-stop.ts'
import type { Link } from '../../link/open-link.ts'
import { FOREIGN } from '../../link/refuse-foreign.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { toldOf } from '../../output/say-fault.ts'

/** How far an action is followed: until all groups are ready, until the goal serves everywhere, or to its end. */
export const waits = ['ready', 'served', 'finalized'] as const
/** One of them. */
export type Wait = (typeof waits)[number]

/** Why it was followed no further. */
export type Stopped = 'reached' | StopReason

/** The outcome of following: the action as it was last, and why it was followed no further. */
export interface Seen {
  readonly action: Action
  readonly stopped: Stopped
}

/** What hears of an action while it is followed: each event, and what the action then is. */
export type OnEvent = (action: Action, event: ActionEvent) => void

/**
 * Follows an action from its first event on. A server that goes away is waited for; Ctrl-C and SIGTERM end the following, never the action.
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
      // What is told again may have been undone since.
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

/** The server has been there. A restart takes seconds, and more on a busy machine. */
const AWAY_MS = 120_000
const PAUSE_MS = 500

/** Does it again while the server is away. */
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

/** Whether the server did not answer, and may answer later. */
export function isAway(cause: unknown): boolean {
  const { exit, code } = toldOf(cause)
  return exit === 'unreached' && code !== FOREIGN
}

/** A stream goes on by itself once it has begun; also its beginning may meet a server that is away. */
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

/** Whether an action has come as far as it is waited for. */
export function isReached(wait: Wait, { phase, outcome }: Pick<Action, 'phase' | 'outcome'>): boolean {
  if (outcome !== null) return true
  if (wait === 'finalized') return false
  return phase === 'window' || phase === 'finishing' || (wait === 'ready' && phase === 'ready')
}

/** The action before its first event. */
function beforeAll(action: Action): Action {
  return {
    ...action,
    ...{ phase: 'queued', outcome: null, status: 'pending', progress: 0, state: '', hold_reason: null },
    ...{ waiting_for: '', waiting: null, window_ends: null, began_time: null, ended_time: null },
    ...{ certificates: [], warnings: [], lanes: [], paused: false, needs_person: false },
  }
}

function applyEvent(action: Action, event: ActionEvent): Action {
  if (event.type === 'action') {
    const { seq: _, type: __, time: ___, ...changed } = event
    return { ...action, ...changed }
  }
  if (event.type === 'lanes') return { ...action, lanes: applyLanes(action.lanes ?? [], event.lanes) }
  const { certificate } = event
  // It comes again when its full syncs are counted.
  const others = action.certificates.filter(({ at, to }) => at !== certificate.at || to !== certificate.to)
  return { ...action, certificates: [...others, certificate] }
}

/** A list with a place far beyond its end is a hole that takes minutes to look through. */
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
    ...{ group, state: 'waiting', handed_over: false, waiting: null },
    ...{ steps: [], steps_left_out: 0, sync: null, lag_bytes: null },
  }
}
