/** The planner's tests share this world: groups of shards, and a run of a plan through it, turn by turn. */
import { expect as expected, settle } from './foresee.ts'
import { type Goal, revisionOf } from './goal.ts'
import { planGroup } from './plan-group.ts'
import { isLinked, isLive, type Seen, type SeenShard, type Step } from './topology.ts'

export const old = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0 }
export const plenty = { memoryFreeBytes: 1e12, diskFreeBytes: 1e12 }
export const noMemory = { memoryFreeBytes: 0, diskFreeBytes: 1e12 }

export function groupOf(replicas: number, aof = false): Seen {
  const shards = Array.from({ length: replicas + 1 }, (_, n): SeenShard => {
    const isPrimary = n === 0
    return {
      id: n + 1,
      address: { host: '', port: n + 1 },
      wanted: old,
      revision: revisionOf(old),
      follows: isPrimary ? null : 1,
      process: 'running',
      leaving: false,
      processWhy: '',
      endedCleanly: false,
      engine: {
        role: isPrimary ? 'primary' : 'replica',
        primary: isPrimary ? null : { host: '', port: 1 },
        link: isPrimary ? 'down' : 'up',
        syncing: false,
        loading: false,
        replid: '',
        replid2: '',
        secondOffset: -1,
        offset: 0,
        usedMemoryBytes: 1e6,
        aof: aof ? 'on' : 'off',
      },
    }
  })
  return { shards, recordedPrimary: 1, history: null, handover: null, node: plenty }
}

export function goalOf(change: Partial<Goal> = {}): Goal {
  return {
    kind: 'keep',
    build: { flavour: 'valkey', version: '8.1.1' },
    restartNonce: 0,
    replicas: 1,
    persistence: 'disabled',
    home: 1,
    preserveRoles: false,
    undo: false,
    ...change,
  }
}

export const undoOf = (goal: Goal): Goal => ({ ...goal, ...old, undo: true, preserveRoles: true })

/** Lets some of what is on its way arrive, as the picks say: engines answer in no particular order. */
export function arrive(seen: Seen, picks: Iterator<number>): Seen {
  const all = settle(seen)
  return {
    ...seen,
    shards: seen.shards.map((shard, n) => (pick(picks, 2) === 0 ? shard : (all.shards[n] ?? shard))),
  }
}
const pick = (picks: Iterator<number>, below: number) => (picks.next().value as number) % below

/** Plans, carries out and lets arrive, turn by turn, until it is done. `look` sees every step before it is taken. */
export function run(
  start: Seen,
  goal: Goal,
  picks: Iterator<number>,
  look: (seen: Seen, step: Step) => void,
): Seen {
  let seen = start
  for (let turn = 0; turn < 2_000; turn++) {
    const verdict = planGroup(seen, goal)
    if (verdict.kind === 'done') return seen
    if (verdict.kind === 'stuck' || verdict.kind === 'hopeless')
      throw new Error(`${verdict.kind}: ${verdict.why}`)
    if (verdict.kind === 'do') {
      look(seen, verdict.step)
      seen = expected(seen, verdict.step)
    }
    seen = arrive(seen, picks)
  }
  throw new Error('the plan never ends')
}

export const primaries = ({ shards }: Seen) =>
  shards.filter((shard) => isLive(shard) && shard.engine.role === 'primary')
export const linked = (seen: Seen) =>
  seen.shards.filter((shard) => primaries(seen).some((primary) => isLinked(shard, primary))).length

/** Picks that are the same each time. */
export function* stream(): Generator<number> {
  for (let n = 1; ; n = (n * 7 + 3) % 1_000) yield n
}
