import { expect, test } from 'vitest'
import { goalOf, groupOf, old } from '../../../test/simulation/group.ts'
import { undoGoal } from '../state/action.ts'
import type { ChangeableSettings } from '../state/goal.ts'
import { isLive, type ObservedGroup, type ObservedShard } from '../state/topology.ts'
import { planGroup } from './plan-group.ts'

const from: ChangeableSettings = {
  memoryBytes: 0,
  evictionPolicy: 'noeviction',
  replicas: 0,
  persistence: 'disabled',
  aofFsync: 'everysec',
  snapshots: [],
}
const to: ChangeableSettings = { ...from, persistence: 'aof' }
const goal = goalOf({ ...old, from: null, replicas: 0, persistence: 'aof', change: { to, from } })

function saving(
  look: Partial<ObservedShard['saving'] & object>,
  aof: 'off' | 'rewriting' | 'on',
): ObservedGroup {
  const seen = groupOf(0)
  const shards = seen.shards.map((shard): ObservedShard => {
    if (!isLive(shard)) throw new Error('all answer')
    const { persistence, aofFsync, snapshots } = from
    const has = { persistence, aofFsync, snapshots: [...snapshots], ...look }
    return { ...shard, saving: has, engine: { ...shard.engine, aof } }
  })
  return { ...seen, shards }
}

test('an append-only file is switched on, and waited for, also if its process has begun with that order', () => {
  expect(planGroup(saving({}, 'off'), goal)).toMatchObject({ kind: 'do', step: { kind: 'enable-aof' } })
  expect(planGroup(saving({ changing: true }, 'rewriting'), goal)).toMatchObject({
    kind: 'wait',
    code: 'saving',
  })
  // It died in the change, and its next process has loaded what was on the disk.
  expect(planGroup(saving({ persistence: 'aof' }, 'rewriting'), goal)).toMatchObject({ kind: 'wait' })
  expect(planGroup(saving({ persistence: 'aof' }, 'on'), goal)).toEqual({ kind: 'done' })
})

test('it is not switched on where the disk has no room for it', () => {
  const full = { ...saving({}, 'off'), node: { memoryFreeBytes: 1e12, diskFreeBytes: 1_000_000 } }
  expect(planGroup(full, goal)).toMatchObject({ kind: 'stuck', code: 'node_room' })
})

test('a change that is taken back ends when every process is what it was before', () => {
  const undo = undoGoal(goal)
  expect(undo).toMatchObject({ persistence: 'disabled', undo: true, change: { to: from, from: to } })
  expect(planGroup(saving({ changing: true }, 'rewriting'), undo)).toMatchObject({
    kind: 'wait',
    code: 'saving',
  })
  expect(planGroup(saving({}, 'off'), undo)).toEqual({ kind: 'done' })
})

test('a database that begins with a backup fails if its process died with data that were only in memory', () => {
  const data = { keysInFile: 1, databases: [], functions: 0, memoryBytes: 1 }
  const seed = { backup: 'b', group: 0, sha256: '', slots: { first: 0, last: 16_383 }, data }
  const restored = goalOf({ ...old, from: null, replicas: 0, persistence: 'disabled', seeds: [seed] })
  const began = (afterDeath: boolean): ObservedGroup => {
    const seen = saving({}, 'off')
    const shards = seen.shards.map((shard) => ({ ...shard, beganAfterDeath: afterDeath }))
    return { ...seen, shards, recordedPrimary: null }
  }
  expect(planGroup(began(true), restored)).toMatchObject({ kind: 'hopeless', code: 'shard_failing' })
  expect(planGroup(began(true), { ...restored, persistence: 'aof' })).not.toMatchObject({ kind: 'hopeless' })
  expect(planGroup(began(false), restored)).toMatchObject({ kind: 'do', step: { kind: 'record-primary' } })
})
