import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, linked, noMemory, plenty, run } from '../../../test/simulation/group.ts'
import {
  type Disk,
  type EngineState,
  isLive,
  type ObservedGroup,
  type ObservedShard,
} from '../state/topology.ts'
import { violations } from './invariants.ts'
import { planGroup } from './plan-group.ts'

/**
 * Redis 6.0 keeps the old value of a key that a newer primary sets with a time to live, and does not report
 * it.
 */
const redis6 = { build: { flavour: 'redis', version: '6.0.16' }, restartNonce: 0, modules: [] }
const goal = goalOf({ from: redis6, replicas: 1 })
const onGoal = { wanted: goal, revision: 'valkey-8.1.1+0' }

function oldOf(replicas: number, node = plenty): ObservedGroup {
  const seen = groupOf(replicas)
  const shards = seen.shards.map((shard) => ({ ...shard, wanted: redis6, revision: 'redis-6.0.16+0' }))
  return { ...seen, node, shards }
}

/** Shard 2 runs the goal and leads; 1, on redis 6.0, follows it. */
function handedOver(node = plenty): ObservedGroup {
  const seen = oldOf(1, node)
  const leader = seen.shards[1]?.address ?? null
  const roles: Readonly<Record<number, Partial<EngineState>>> = {
    1: { role: 'replica', primary: leader, link: 'up' },
    2: { role: 'primary', primary: null, link: 'down' },
  }
  const shards = seen.shards.map((shard) => {
    const engine = shard.engine && { ...shard.engine, ...roles[shard.id] }
    return { ...shard, ...(shard.id === 2 && onGoal), follows: shard.id === 2 ? null : 2, engine }
  })
  const standby = { shard: 1, runId: 'run-1', errorReplies: 0 }
  return { ...seen, recordedPrimary: 2, standby, shards }
}

describe('without memory for a surge shard, from redis 6.0,', () => {
  test('no replica is upgraded in place: no old shard could stand by for it', () => {
    expect(planGroup(oldOf(1, noMemory), goal)).toMatchObject({ kind: 'hopeless', code: 'node_room' })
    const alone = goalOf({ from: redis6, replicas: 0, persistence: 'disabled', inPlace: true })
    expect(planGroup(oldOf(0, noMemory), alone)).toMatchObject({ step: { kind: 'restart-primary' } })
  })

  test('where the memory is taken after the handover, the last old shard stays, and the plan says what it waits for', () => {
    expect(planGroup(handedOver(noMemory), goal)).toMatchObject({
      kind: 'wait',
      shard: 1,
      code: 'node_room',
      why: expect.stringMatching(/MB of memory.*stays until there is room.*redis 6\.0\.16/),
    })
    expect(planGroup(handedOver(), goal)).toMatchObject({ step: { kind: 'add-shard', follow: 2 } })
  })

  test('whenever memory comes and goes, the database never has fewer followers than it had', () => {
    for (const replicas of [1, 2, 3])
      for (const turn of [1, 2, 3, 5, 8, 13]) {
        let looked = 0
        const end = run(
          oldOf(replicas),
          goalOf({ from: redis6, replicas }),
          atOnce(),
          (seen, step) => {
            if (step.kind === 'retire-shard') expect(linked(seen)).toBeGreaterThan(replicas)
          },
          (seen) => ({ ...seen, node: looked++ % turn === 0 ? plenty : noMemory }),
        )
        expect(end.shards).toHaveLength(replicas + 1)
      }
  })
})

/** Everything under way finishes before the next turn. */
function* atOnce(): Generator<number> {
  for (;;) yield 1
}

const noDisk: Disk = { lookedAt: 0, snapshot: null, aof: 'none', claim: null }

/**
 * The new primary, shard 2, is dead. The history on record reaches 90; shard 3, if there is one, runs the
 * goal and stands at 95.
 */
function died(
  disk: Disk,
  others: 'alone' | 'beside another',
  change: Partial<ObservedShard> = {},
): ObservedGroup {
  const seen = handedOver()
  const [first, second] = seen.shards
  if (first === undefined || second === undefined || !isLive(first)) throw new Error('a group of two')
  const at = (offset: number): EngineState => ({ ...first.engine, replid: 'a', link: 'down', offset })
  const dead: ObservedShard = { ...second, process: 'exited', asleep: true, engine: null, disk, ...change }
  const old = { ...first, engine: at(100) }
  const third = { ...first, ...onGoal, id: 3, address: { host: '', port: 3 }, engine: at(95) }
  const shards = others === 'alone' ? [old, dead] : [old, dead, third]
  return { ...seen, history: { replid: 'a', offset: 90, runId: null }, shards }
}

describe('when the new primary dies while a replica on redis 6.0 follows it,', () => {
  // invariant: A replica that may have old values is promoted last.
  test('another follower takes over that executes all its commands', () => {
    expect(planGroup(died(noDisk, 'beside another'), goal)).toMatchObject({
      step: { kind: 'promote', shard: 3 },
    })
  })

  test('the primary comes back where its append-only file is whole', () => {
    const whole: Disk = { ...noDisk, aof: 'whole' }
    const seen = died(whole, 'alone')
    const verdict = planGroup(seen, goal)
    expect(verdict).toMatchObject({ kind: 'do', step: { kind: 'start-shard', shard: 2, follow: null } })
    if (verdict.kind === 'do') expect(violations(seen, verdict.step)).toEqual([])
    const fails = died(whole, 'alone', { failsToStart: 'cannot read its file' })
    expect(planGroup(fails, goal)).toMatchObject({ step: { kind: 'promote', shard: 1 } })
  })

  test('the old one takes over if there is no other', () => {
    for (const aof of ['none', 'older'] as const)
      expect(planGroup(died({ ...noDisk, aof }, 'alone'), goal)).toMatchObject({
        step: { kind: 'promote', shard: 1 },
      })
  })
})
