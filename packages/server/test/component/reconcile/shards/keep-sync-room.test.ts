import type { EngineConnection } from '@fairlead/engine'
import { expect, test } from 'vitest'
import {
  isOurs,
  type LimitBefore,
  type ReplicaLimit,
  readReplicaLimit,
} from '../../../../src/core/carry-over/sync-room.ts'
import type { Database } from '../../../../src/core/state/database.ts'
import { isLive, type ObservedGroup, type ObservedShard } from '../../../../src/core/state/topology.ts'
import { carrySettings } from '../../../../src/reconcile/carry-over/carry-settings.ts'
import { readBaseline } from '../../../../src/reconcile/carry-over/read-settings.ts'
import { keepSyncRoom, limitBefore } from '../../../../src/reconcile/shards/keep-sync-room.ts'
import { tryingOn } from '../../../../src/reconcile/turn/engines.ts'
import { createTurnMemory } from '../../../../src/reconcile/turn/turn-memory.ts'
import { builds, startTestEngine } from '../../../engine.ts'
import { groupOf } from '../../../simulation/group.ts'

const database = { uid: 1 } as Database
const effect = <T>(_: string, work: () => Promise<T>) => work()

test.concurrent.each(builds)(
  'what a primary may hold back for a sync is taken back at the next look when it has lost its role: $flavour $version',
  async (build) => {
    await using engine = await startTestEngine(build)
    const { admin } = engine
    await admin.call('CONFIG', 'SET', 'client-output-buffer-limit', 'replica 4194304 0 0')
    const runId = /run_id:(\w+)/.exec(await admin.info('server'))?.[1] ?? ''
    const own = { hardBytes: 4_194_304, softBytes: 0, softSeconds: 0 }
    const limits = new Map<number, LimitBefore>()
    const [deps, memory] = [depsWith(admin, limits), createTurnMemory()]
    await keepSyncRoom(database, { groups: [groupWith(runId, 'syncs')] }, deps, memory)
    expect(isOurs((await limitOf(admin)) ?? own)).toBe(true)
    expect(await limitBefore(admin, 1, deps)).toEqual(own)
    await keepSyncRoom(database, { groups: [groupWith(runId, 'lost its role')] }, deps, memory)
    expect(await limitOf(admin)).toEqual(own)

    // The same by the next server, after one died in between: the former value is on record.
    await keepSyncRoom(database, { groups: [groupWith(runId, 'syncs')] }, deps, createTurnMemory())
    expect(isOurs((await limitOf(admin)) ?? own)).toBe(true)
    expect(await limitBefore(admin, 1, depsWith(admin, limits))).toEqual(own)
    const next = [depsWith(admin, limits), createTurnMemory()] as const
    await keepSyncRoom(database, { groups: [groupWith(runId, 'lost its role')] }, ...next)
    expect(await limitOf(admin)).toEqual(own)
    expect(limits.size).toBe(0)

    // Without a record, or with one of a dead process, the limit at the process's start is restored.
    await keepSyncRoom(database, { groups: [groupWith(runId, 'syncs')] }, deps, createTurnMemory())
    limits.set(1, { runId: 'another', limit: own })
    await keepSyncRoom(
      database,
      { groups: [groupWith(runId, 'lost its role')] },
      depsWith(admin, limits),
      createTurnMemory(),
    )
    expect(await limitOf(admin)).toEqual({ hardBytes: 268_435_456, softBytes: 67_108_864, softSeconds: 60 })
  },
)

test.concurrent.each(builds)(
  'what an operator has set goes with the role, also while more may be held back for a sync: $flavour $version',
  async (build) => {
    await using one = await startTestEngine(build)
    await using two = await startTestEngine(build)
    const baseline = await readBaseline(one.admin)
    await one.admin.call('CONFIG', 'SET', 'client-output-buffer-limit', 'replica 1073741825 0 0')
    const pair = {
      from: one.admin,
      to: two.admin,
      fromBuild: build,
      toBuild: build,
      inCluster: false,
      baseline,
    }
    const usual = await limitOf(two.admin)
    await carrySettings({ ...pair, effect })
    expect(await limitOf(two.admin)).toEqual(usual)
    const replicaLimit = { hardBytes: 4_194_304, softBytes: 0, softSeconds: 0 }
    expect(await carrySettings({ ...pair, replicaLimit, effect })).toMatchObject({
      obstacles: { users: [], settings: [] },
    })
    expect(await limitOf(two.admin)).toEqual(replicaLimit)
  },
)

/** Shard 1 was the primary and is this process. */
function depsWith(admin: EngineConnection, limits = new Map<number, LimitBefore>()) {
  return {
    engines: { tryOn: tryingOn(async () => admin) },
    agent: { readBaseline: async () => ({ settings: null }) },
    shards: {
      limitBefore: async (id: number) => limits.get(id) ?? null,
      setLimitBefore: async (id: number, limit: LimitBefore | null) =>
        void (limit === null ? limits.delete(id) : limits.set(id, limit)),
    },
    effect,
  }
}

function groupWith(runId: string, state: 'syncs' | 'lost its role'): ObservedGroup {
  const seen = groupOf(1)
  const [first, second] = seen.shards.filter(isLive)
  if (first === undefined || second === undefined) throw new Error('a group of two')
  const isPrimary = state === 'syncs'
  const shards: readonly ObservedShard[] = [
    { ...first, engine: { ...first.engine, runId, role: isPrimary ? 'primary' : 'replica' } },
    // The other shard is not started: it takes its sync, or is a process that this test does not look at.
    { ...second, engine: null },
  ]
  return { ...seen, recordedPrimary: isPrimary ? 1 : 2, shards }
}

async function limitOf(admin: EngineConnection): Promise<ReplicaLimit | null> {
  return readReplicaLimit(String(await admin.call('CONFIG', 'GET', 'client-output-buffer-limit')))
}
