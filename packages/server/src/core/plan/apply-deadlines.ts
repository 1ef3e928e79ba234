import { stepWords } from '@fairlead/api'
import type { Obstacle } from '../state/obstacle.ts'
import {
  type Goal,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type Verdict,
} from '../state/topology.ts'
import { hasHandedOver, wayBack } from '../state/way-back.ts'
import { type Awaited, awaitedIn } from './awaited.ts'

/**
 * Applies the deadline of waits to a verdict, including repeated steps. After it, an action that can be
 * undone without loss (`undoable`) is given up if it waits; any other continues, and a person must look.
 * `held`: why the step's last attempt changed nothing; `seedBytes`: data to load at creation; `whatToDo`:
 * appended to the reason for giving up.
 */
export function applyDeadlines(
  verdict: Verdict,
  {
    waitedMs,
    held,
    seedBytes = 0,
  }: { readonly waitedMs: number; readonly held?: Obstacle | undefined; readonly seedBytes?: number },
  seen: ObservedGroup,
  undoable: boolean,
  whatToDo = '',
): Verdict {
  if (verdict.kind === 'hopeless') return undoable ? verdict : { ...verdict, kind: 'stuck' }
  const awaited = awaitedIn(verdict)
  if (awaited === undefined || (verdict.kind !== 'wait' && verdict.kind !== 'do')) return verdict
  if (waitedMs < deadlineMs(verdict, awaited, held) + syncMs(seen, seedBytes)) return verdict
  const { code, why } = reasonOf(verdict, held)
  if (undoable && (verdict.kind === 'wait' || awaited.introduces))
    return { kind: 'hopeless', code, why: `${why}, for ${Math.round(waitedMs / 1000)} s now${whatToDo}` }
  const advice = awaited.introduces ? '; see docs/explain/cluster-view.md' : ''
  const late = { code, why: `${why}, for ${sayHowLong(waitedMs)} now${advice}` }
  return verdict.kind === 'do' ? { ...verdict, late } : { kind: 'stuck', ...late }
}

function deadlineMs({ kind }: Verdict, { introduces }: Awaited, held: Obstacle | undefined): number {
  if (introduces) return INTRODUCTION_MS
  if (held?.code === 'clients_busy') return CLIENTS_MS
  return kind === 'do' ? STEP_MS : WAIT_MS
}

const WAIT_MS = 30_000
/** For a minute, engines reject a node that they were ordered to forget, and introductions fail. */
const INTRODUCTION_MS = 90_000
/** A repeated step ends nothing: a handover may wait for a lagging stream, or for clients. */
const STEP_MS = 120_000
/** The endpoint disconnects clients that delay a handover after 5 to 6 minutes (docs/reference/limits.md). */
const CLIENTS_MS = 480_000

function reasonOf(verdict: Extract<Verdict, { kind: 'wait' | 'do' }>, held: Obstacle | undefined): Obstacle {
  if (verdict.kind === 'wait') return verdict
  const { step } = verdict
  if (step.kind === 'meet') return { code: 'cluster_view', why: step.why }
  return (
    held ?? {
      code: 'trouble',
      why: `the step "${stepWords[step.kind].label}" is tried again, and changes nothing (${step.why})`,
    }
  )
}

/** Formats in few steps, because each new sentence is recorded. */
function sayHowLong(ms: number): string {
  const minutes = [1, 2, 5, 10, 20, 60, 120, 300, 720, 1_440].findLast((one) => one * 60_000 <= ms)
  return minutes === undefined ? 'more than 30 s' : `more than ${minutes} min`
}

/**
 * True if the goal can be given up automatically without loss: a group has not handed over, and all that have
 * can go back. After all have, a person decides.
 */
export function isUndoable({ groups }: ObservedDatabase, goal: Goal): boolean {
  if (goal.undo || goal.kind === 'remove' || goal.change !== undefined) return false
  if (goal.from === null) return groups.some(({ recordedPrimary }) => recordedPrimary === null)
  const left = groups.filter((group) => hasHandedOver(group, goal))
  if (left.length === groups.length) return left.every((group) => neverServed(group, goal))
  if (groups.some((group) => !hasHandedOver(group, goal) && isHeadless(group))) return false
  return left.length === 0 || wayBack({ groups: left }, goal).eligible
}

/** True if the group's primary was restarted in place and did not start. */
function neverServed({ shards, recordedPrimary }: ObservedGroup, goal: Goal): boolean {
  return goal.inPlace && shards.some(({ id, process }) => id === recordedPrimary && process === 'failed')
}

/** True if the recorded primary is gone and does not come back. */
function isHeadless({ shards, recordedPrimary }: ObservedGroup): boolean {
  return !shards.some(({ id }) => id === recordedPrimary)
}

/** Returns the time for a sync of the data at 8 MB/s (measured: 50 to 250 MB/s on our machines). */
function syncMs({ shards }: ObservedGroup, seedBytes: number): number {
  const largest = Math.max(seedBytes, ...shards.filter(isLive).map(({ engine }) => engine.usedMemoryBytes))
  return largest / 8_000
}
