import { expect, test } from 'vitest'
import { databaseOf } from '../../../test/records.ts'
import { groupOf } from '../../../test/simulation/group.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import type { GroupHistory } from '../turn/ports.ts'
import { createTurnMemory } from '../turn/turn-memory.ts'
import { endReservations, keepHistory } from './keep-records.ts'

/**
 * A group with one replica, as a turn sees it: the offset of its primary, and whether that reports new
 * writes.
 */
function seenAt(offset: number, writes: string, history: GroupHistory['history'] | null): ObservedDatabase {
  const group = groupOf(1)
  const shards = group.shards.map((shard) =>
    shard.engine?.role === 'primary'
      ? { ...shard, engine: { ...shard.engine, replid: 'h', offset, writes } }
      : shard,
  )
  return { groups: [{ ...group, shards, history }] }
}

test('a database into which nothing is written has nothing put on record, though its stream grows by PINGs', async () => {
  const records: number[] = []
  let now = 0
  let known: GroupHistory['history'] | null = null
  const memory = createTurnMemory(() => now)
  const ports = {
    databases: {
      setHistories: async (_: number, [news]: readonly GroupHistory[]) => {
        known = news?.history ?? null
        records.push(news?.history.offset ?? -1)
      },
    },
    audit: { append: () => Promise.reject(new Error('nothing is lost')) },
    now: () => now,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined },
  }
  const about = { database: databaseOf(), action: undefined }
  const turn = async (offset: number, writes: string) => {
    now += 50_000
    await keepHistory(about, seenAt(offset, writes, known), ports as never, memory)
  }
  await turn(100, '1 saved-then')
  await turn(114, '1 saved-then')
  await turn(128, '1 saved-then')
  expect(records).toEqual([100])
  await turn(170, '2 saved-then')
  await turn(184, '2 saved-then')
  expect(records).toEqual([100, 170])
})

test('if no memory is reserved for its shards, no end of a reservation is recorded', async () => {
  const ended: (readonly number[])[] = []
  let kept: readonly number[] = [2]
  const shards = {
    withReservation: async () => kept,
    endReservations: async (ids: readonly number[]) => void ended.push(ids),
  }
  const seen = seenAt(100, '', null)
  await endReservations(seen, { shards })
  kept = []
  await endReservations(seen, { shards })
  expect(ended).toEqual([[2]])
})
