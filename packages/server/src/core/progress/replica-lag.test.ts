import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import type { EngineState, ObservedDatabase } from '../state/topology.ts'
import { laggingGroup, primaryOffsets } from './replica-lag.ts'

/** One group whose shards, the primary first, report this besides; null: it does not answer. */
function seenWith(...engines: readonly (Partial<EngineState> | null)[]): ObservedDatabase {
  const group = groupOf(engines.length - 1)
  const shards = group.shards.map((shard, n) => {
    const engine = engines[n] ?? null
    return { ...shard, engine: engine && shard.engine && { ...shard.engine, ...engine } }
  })
  return { groups: [{ ...group, shards }] }
}
const lag = (seen: ObservedDatabase, replicas: number, wanted = primaryOffsets(seen)) =>
  laggingGroup(seen, replicas, wanted)

test('a replica that has what its primary has does not lag', () => {
  expect(lag(seenWith({ offset: 7 }, { offset: 7 }), 1)).toBeUndefined()
  expect(lag(seenWith({ offset: 9 }, { offset: 7 }), 1, new Map([[0, 7]]))).toBeUndefined()
})

test('a replica lags that has less, is not linked, has another history, or does not answer', () => {
  for (const replica of [
    { offset: 6 },
    { offset: 7, link: 'down' as const },
    { offset: 7, replid: 'x' },
    null,
  ])
    expect(lag(seenWith({ offset: 7 }, replica), 1)).toEqual({ group: 0, following: 0 })
})

test('a shard more than the database has replicas may lag', () => {
  const filling = { offset: 0, link: 'down' as const }
  expect(lag(seenWith({ offset: 7 }, { offset: 7 }, filling), 1)).toBeUndefined()
  expect(lag(seenWith({ offset: 7 }, { offset: 7 }, filling), 2)).toEqual({ group: 0, following: 1 })
})

test('behind a primary that does not answer, no replica can be known to follow', () => {
  expect(lag(seenWith(null, { offset: 7 }), 1)).toEqual({ group: 0, following: 0 })
  expect(lag(seenWith({ offset: 7 }, { offset: 7 }), 1, new Map())).toEqual({ group: 0, following: 0 })
})
