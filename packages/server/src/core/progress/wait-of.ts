import type { Action } from '../state/action.ts'
import type { Waiting, WaitingSince } from '../state/lane-record.ts'
import type { Obstacle } from '../state/obstacle.ts'
import type { Verdict } from '../state/topology.ts'

/**
 * Returns the wait of a group; null if it works, or has nothing left to do. `held`: why its due step failed
 * at the last attempt. A group with a hopeless goal is taken back in the same turn.
 */
export function waitOf(
  verdict: Verdict,
  held: Obstacle | undefined,
  windowEnds: string | null,
): Waiting | null {
  const plain = { shard: null, until: null, stuck: false }
  switch (verdict.kind) {
    case 'done':
    case 'hopeless':
      return null
    case 'wait': {
      const { code, why, shard } = verdict
      return { ...plain, on: isRoom(code) ? 'capacity' : 'shard', shard, code, why }
    }
    case 'stuck': {
      const { code, why, retry } = verdict
      const shard = retry !== undefined && 'shard' in retry ? retry.shard : null
      return { ...plain, on: 'person', shard, code, why, stuck: true }
    }
    case 'hold': {
      const { on, code, why } = verdict
      return {
        ...plain,
        on: isRoom(code) ? 'capacity' : on,
        until: on === 'time' ? windowEnds : null,
        code,
        why,
      }
    }
    case 'do': {
      // A preparation concurrent with the turns counts as work.
      if (held === undefined || held.code === 'preparing') return null
      const { step, late } = verdict
      const shard = step.kind === 'hand-over' ? step.to : 'shard' in step ? step.shard : null
      if (late !== undefined)
        return { ...plain, on: 'person', shard, code: late.code, why: late.why, stuck: true }
      const on = held.code === 'other_groups' ? 'group' : isRoom(held.code) ? 'capacity' : 'shard'
      return { ...plain, on, shard, code: held.code, why: held.why }
    }
  }
}

function isRoom(code: Obstacle['code']): boolean {
  return code === 'node_room' || code === 'parallel_limit' || code === 'queued'
}

/** Returns the wait with its start, kept if unchanged. Its sentence may change, for example a percentage. */
export function since(now: Waiting | null, before: WaitingSince | null, at: string): WaitingSince | null {
  if (now === null) return null
  const isSame =
    before !== null && before.on === now.on && before.shard === now.shard && before.code === now.code
  return { ...now, since: isSame ? before.since : at }
}

/** Returns why an action waits, for programs and for people. */
export function waitsFor(obstacle: Obstacle | undefined): Pick<Action, 'holdReason' | 'waitingFor'> {
  return { holdReason: obstacle?.code ?? null, waitingFor: obstacle?.why ?? '' }
}
