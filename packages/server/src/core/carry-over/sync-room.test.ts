import { expect, test } from 'vitest'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import { planGroup } from '../plan/plan-group.ts'
import { revisionOf } from '../state/goal.ts'
import { isLive, type ObservedGroup } from '../state/topology.ts'
import { settingsToCarry } from './runtime-settings.ts'
import { allows, isOurs, readReplicaLimit, syncRoom, usualLimit, writeReplicaLimit } from './sync-room.ts'

const GB = 1024 ** 3

/** A group whose follower takes a full sync, on a node with so much memory free. */
function syncing(memoryFreeBytes: number, trouble = ''): ObservedGroup {
  const seen = groupOf(1)
  const shards = seen.shards.map((shard) =>
    shard.id === 2 && isLive(shard)
      ? { ...shard, trouble, engine: { ...shard.engine, link: 'down' as const, syncing: true } }
      : shard,
  )
  return { ...seen, shards, node: { ...seen.node, memoryFreeBytes } }
}

test('while a follower is synced, its primary may hold back most of what the node has free, for all syncs together', () => {
  const one = syncing(8 * GB)
  expect(syncRoom(one, [one])).toBe(6 * GB + 1)
  expect(syncRoom(one, [one, one, groupOf(1)])).toBe(3 * GB + 1)
  expect(syncRoom(syncing(0), [one])).toBe(GB / 4 + 1)
  expect(syncRoom(groupOf(1), [one])).toBeNull()
  // The follower is linked, and has not received yet what was held back for it.
  const at = (offset: number) => {
    const seen = groupOf(1)
    const shards = seen.shards.map((shard) =>
      shard.id === 1 && isLive(shard) ? { ...shard, engine: { ...shard.engine, offset } } : shard,
    )
    return syncRoom({ ...seen, shards }, [])
  }
  expect([at(1024 ** 2), at(2 * 1024 ** 2)].map((bytes) => bytes === null)).toEqual([true, false])
})

test('a limit that Fairlead has set is recognized by its size, and a limit that people set is not', () => {
  const ours = { hardBytes: 4 * GB + 1, softBytes: 0, softSeconds: 0 }
  const text = `normal 0 0 0 slave ${4 * GB + 1} 0 0 pubsub 33554432 8388608 60`
  expect(readReplicaLimit(text)).toEqual(ours)
  expect(readReplicaLimit(text.replace('slave', 'replica'))).toEqual(ours)
  expect(readReplicaLimit('')).toBeNull()
  expect(writeReplicaLimit(ours)).toBe(`replica ${4 * GB + 1} 0 0`)
  expect([ours, usualLimit].map(isOurs)).toEqual([true, false])
  const none = { hardBytes: 0, softBytes: 0, softSeconds: 0 }
  expect([ours, usualLimit, none].map((limit) => allows(limit, 2 * GB))).toEqual([true, false, true])
})

test('it does not count as a setting of people, and is not carried with the role', () => {
  const name = 'client-output-buffer-limit'
  const usual = 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60'
  const carried = (value: string) =>
    settingsToCarry({ [name]: value }, { [name]: usual }, { [name]: usual }).set
  expect(carried(usual.replace('268435456 67108864 60', `${4 * GB + 1} 0 0`))).toEqual([])
  expect(carried(usual.replace('268435456 67108864 60', '0 0 0'))).toHaveLength(1)
})

test('a sync that was interrupted is waited for; data that cannot be read are not', () => {
  const goal = goalOf()
  const verdict = (trouble: string, cannotRead: boolean) => {
    const seen = syncing(GB, trouble)
    const shards = seen.shards.map((shard) =>
      shard.id === 2 ? { ...shard, cannotRead, wanted: goal, revision: revisionOf(goal) } : shard,
    )
    return planGroup({ ...seen, shards }, goal)
  }
  const cut = 'Short read or OOM loading DB; Failed trying to load the MASTER synchronization DB from socket'
  expect(verdict(cut, false)).toMatchObject({ kind: 'wait', why: expect.stringContaining(`its log: ${cut}`) })
  expect(verdict("Can't handle RDB format version 80", true)).toMatchObject({
    kind: 'hopeless',
    code: 'cannot_read',
  })
})
