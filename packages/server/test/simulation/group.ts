/** The planner's tests share this world: groups of shards, and a run of a plan through it, turn by turn. */

import { converge, applyStep as expected } from '../../src/core/dry-run/simulate.ts'
import { planGroup } from '../../src/core/plan/plan-group.ts'
import { type Action, undoGoal } from '../../src/core/state/action.ts'
import { splitSlots } from '../../src/core/state/database.ts'
import { type Goal, plainPolicy, revisionOf } from '../../src/core/state/goal.ts'
import { noOrders } from '../../src/core/state/orders.ts'
import {
  type EngineMemory,
  isLinked,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
  type Step,
} from '../../src/core/state/topology.ts'

export const old = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0, modules: [] }
export const plenty = { memoryFreeBytes: 1e12, diskFreeBytes: 1e12 }
export const noMemory = { memoryFreeBytes: 0, diskFreeBytes: 1e12 }

export function groupOf(replicas: number, aof = false, firstId = 1): ObservedGroup {
  const shards = Array.from({ length: replicas + 1 }, (_, n): ObservedShard => {
    const isPrimary = n === 0
    return {
      id: firstId + n,
      address: { host: '', port: firstId + n },
      wanted: old,
      revision: revisionOf(old),
      follows: isPrimary ? null : firstId,
      process: 'running',
      leaving: false,
      processWhy: '',
      endedCleanly: false,
      beganAfterDeath: false,
      asleep: false,
      trouble: '',
      next: null,
      disk: { lookedAt: 0, snapshot: null, aof: aof ? 'whole' : 'none', claim: null },
      engine: {
        runId: `run-${firstId + n}`,
        role: isPrimary ? 'primary' : 'replica',
        primary: isPrimary ? null : { host: '', port: firstId },
        link: isPrimary ? 'down' : 'up',
        syncing: false,
        loading: false,
        replid: '',
        replid2: '',
        secondOffset: -1,
        offset: 0,
        usedMemoryBytes: 1e6,
        memory: unlimited(1e6),
        keys: 100,
        aof: aof ? 'on' : 'off',
        saving: { state: 'idle', lastAt: null },
        upSeconds: 60,
        streamed: true,
        errorReplies: 0,
        cluster: null,
      },
    }
  })
  return {
    group: 0,
    slots: null,
    shards,
    recordedPrimary: firstId,
    history: null,
    handover: null,
    standby: null,
    limits: { shareBytes: 0, evictionPolicy: 'noeviction' },
    node: plenty,
  }
}

/** Groups in cluster mode, in which every shard knows every other. */
export function shardedOf(groups: number, replicas: number, aof = false): ObservedDatabase {
  const seen = splitSlots(groups).map(
    (slots, group): ObservedGroup => ({
      ...groupOf(replicas, aof, 1 + group * (replicas + 1)),
      group,
      slots,
    }),
  )
  const nodes = seen.flatMap(({ shards, recordedPrimary }) =>
    shards.map(({ id, address }) => {
      const primary = id === recordedPrimary ? null : `node-${recordedPrimary}`
      return { id: `node-${id}`, address, handshake: false, primary, epoch: id, slots: '' }
    }),
  )
  return {
    groups: seen.map((group) => ({
      ...group,
      shards: group.shards.map((shard) =>
        isLive(shard)
          ? {
              ...shard,
              engine: { ...shard.engine, cluster: { id: `node-${shard.id}`, serves: true, nodes } },
            }
          : shard,
      ),
    })),
  }
}

export function goalOf(change: Partial<Goal> = {}): Goal {
  return {
    kind: 'keep',
    build: { flavour: 'valkey', version: '8.1.1' },
    restartNonce: 0,
    modules: [],
    from: old,
    groups: 1,
    cluster: false,
    replicas: 1,
    persistence: 'disabled',
    homes: [1],
    preserveRoles: false,
    undo: false,
    discard: false,
    inPlace: false,
    policy: plainPolicy,
    ...change,
  }
}

export const undoOf = undoGoal

/** Lets a part of everything under way arrive, chosen by the picks: engines answer in no particular order. */
export function arrive(seen: ObservedGroup, picks: Iterator<number>): ObservedGroup {
  const all = converge(seen)
  return {
    ...seen,
    shards: seen.shards.map((shard, n) => (pick(picks, 2) === 0 ? shard : (all.shards[n] ?? shard))),
  }
}
const pick = (picks: Iterator<number>, below: number) => (picks.next().value as number) % below

/** Plans and executes until done. Calls `look` before every step; `change` lets other things happen. */
export function run(
  start: ObservedGroup,
  goal: Goal,
  picks: Iterator<number>,
  look: (seen: ObservedGroup, step: Step) => void,
  change: (seen: ObservedGroup) => ObservedGroup = (seen) => seen,
): ObservedGroup {
  let seen = start
  for (let turn = 0; turn < 2_000; turn++) {
    seen = change(seen)
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

export const primaries = ({ shards }: ObservedGroup) =>
  shards.filter((shard) => isLive(shard) && shard.engine.role === 'primary')
export const linked = (seen: ObservedGroup) =>
  seen.shards.filter((shard) => primaries(seen).some((primary) => isLinked(shard, primary))).length

/** Picks that are the same each time. */
export function* stream(): Generator<number> {
  for (let n = 1; ; n = (n * 7 + 3) % 1_000) yield n
}

/** A running upgrade without any report yet. */
export const runningAction: Action = {
  uid: 'a',
  databaseUid: 1,
  kind: 'upgrade',
  status: 'running',
  goal: goalOf(),
  asked: goalOf(),
  orders: noOrders,
  handedOverAt: null,
  wayBack: { eligible: true, obstacle: null, reason: '' },
  warnings: [],
  progress: 40,
  step: 'hold',
  holdReason: null,
  waitingFor: '',
  needsPerson: false,
  waiting: null,
  handingOver: false,
  phase: 'preparing',
  ending: null,
  request: null,
  requestedBy: null,
  beganAt: '',
  endedAt: null,
  pending: [],
  error: null,
  createdAt: '',
  changedAt: '',
}

/** The memory of an engine without a limit. */
export function unlimited(dataBytes: number): EngineMemory {
  return {
    limitBytes: 0,
    evictionPolicy: 'noeviction',
    backlogBytes: 0,
    hasBacklog: true,
    dataBytes,
    clientBytes: 0,
  }
}
