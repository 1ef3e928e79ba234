import type { Answer } from '../engine/ask-engine.ts'
import { engineTarget } from '../engine/engine-config.ts'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import { isAlive, type ProcessIdentity } from '../process/process-identity.ts'
import type { Observation } from './decide-next.ts'
import { describeShard } from './describe-shard.ts'
import { seeSilence } from './see-silence.ts'
import type { ShardWorkplace } from './shard-workplace.ts'
import { stateToTell } from './state-to-tell.ts'
import type { ShardState, Supervision } from './supervision.ts'

/** Reads an answering engine's state, and the crowd at its port. Never throws because of the engine. */
export async function lookInside(
  { engine, settings, crowd, last, isSeen }: ShardState,
  { probe }: ShardWorkplace,
): Promise<void> {
  if (last === null) return
  if (!isSeen) await engine.look(probe, last)
  await settings.look(probe, last)
  await crowd.look(probe, last, engine.room())
}

/** Reports differences to the server (changes.ts), after each look and each act. */
export function noteChanges({ state, place, changes, statistics, end }: Supervision): void {
  if (end.signal.aborted) return
  const { id } = place.folder
  const seen = whatWasSeen(state)
  if (!isSame(seen, state.told)) {
    const said = `${state.engine.state()} ${state.settings.state()}`
    const report = describeShard(id, state)
    changes.shard(id, stateToTell(report, said), report.state === 'starting')
    state.told = seen
  }
  const grown = state.attention.grown(state.engine.stream())
  if (grown !== null) changes.offset({ id, ...grown })
  const counters = state.engine.counters()
  if (counters !== null && state.last !== null) statistics.shard(id, state.last.startedAt, counters)
}

/** Returns all inputs of a report, and the engine's state: if each is unchanged, the report is not remade. */
function whatWasSeen(state: ShardState): readonly unknown[] {
  const { wanted, last, view, silence, trouble, crowd, disk, engine, settings } = state
  const at = last?.startedAt ?? 0
  const reads = [trouble.cannotRead(at), trouble.cannotSend(at)]
  const said = [crowd.of(at), trouble.of(at), ...reads, trouble.lastLineOf(at)]
  return [wanted, last, view.state, view.why, silence, disk.last(), engine.state(), settings.state(), ...said]
}

function isSame(now: readonly unknown[], before: readonly unknown[]): boolean {
  return now.length === before.length && now.every((each, n) => each === before[n])
}

/** Looks at its process, its answer, and the wanted state. */
export async function look(state: ShardState, place: ShardWorkplace): Promise<Observation> {
  const { last } = state
  const answer = last?.identity && !last.ended ? await lookAt(last, last.identity, state, place) : 'gone'
  state.silence = answer !== 'gone' && answer.kind === 'silent' ? answer.silence : null
  return observationOf(state, answer)
}

/**
 * While an engine answers over the same connection, its process is the same, because its end closes the
 * connection. /proc is still read at this interval, for an engine that leaves its connections to a child and
 * ends.
 */
const PROVEN_FOR_MS = 60_000

async function lookAt(
  last: ProcessRecord,
  identity: ProcessIdentity,
  state: ShardState,
  place: ShardWorkplace,
): Promise<Answer | 'gone'> {
  const { proven, probe } = place
  const now = performance.now()
  const isProven =
    proven?.identity === identity && proven.opened === probe.opened && now - proven.at < PROVEN_FOR_MS
  if (!isProven && !isAlive(identity)) return 'gone'
  const answer = await ask(state, last, place)
  if (answer === 'gone' || answer.kind !== 'pong') {
    place.proven = null
    return isProven && !isAlive(identity) ? 'gone' : answer
  }
  if (!isProven) place.proven = { identity, opened: probe.opened, at: now }
  return answer
}

/** Returns the observation with this answer. */
export function observationOf(
  { wanted, last, refusal }: ShardState,
  answer: Observation['answer'],
): Observation {
  return {
    now: Date.now(),
    wanted: { order: wanted.order, gone: wanted.gone, onCrash: wanted.spec.onCrash },
    last: last && { ...last, started: last.identity !== null, answered: last.answeredAt !== null },
    answer,
    refusedToStop: refusal && performance.now() < refusal.until ? refusal.why : null,
  }
}

async function ask(state: ShardState, last: ProcessRecord, place: ShardWorkplace): Promise<Answer | 'gone'> {
  const { folder, activity, silence: rules } = place
  // Both at the same time: if it becomes busy then, it owes both answers, and its silence begins.
  const [answer, isSeen] = await Promise.all([
    place.probe.ask(engineTarget(last.spec)),
    last.answeredAt !== null && state.engine.look(place.probe, last),
  ])
  state.isSeen = isSeen
  if (answer.kind !== 'silent') {
    activity.forget()
    state.toEnd = null
    return answer
  }
  const { spec } = state.wanted
  const ordered = state.toEnd === last.startedAt
  const silence = await seeSilence({ last, spec, folder, forMs: answer.forMs, ordered, activity }, rules)
  return silence === null ? 'gone' : { kind: 'silent', silence }
}
