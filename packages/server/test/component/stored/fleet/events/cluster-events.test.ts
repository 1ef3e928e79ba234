import { type ClusterEvent, Refusal } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../../../../../../proof/until.ts'
import { fairlead } from '../../../../../src/core/identity/audit-record.ts'
import {
  createEventFeed,
  createEventRing,
  type EventFeed,
} from '../../../../../src/fleet/events/event-feed.ts'
import { auditStore } from '../../../../../src/identity/stores/audit-store.ts'
import { createClusterEvents } from '../../../../../src/routes/stream/cluster-events.ts'
import { openTestStore } from '../../../../open-test-store.ts'

type Followed = AsyncGenerator<ClusterEvent, void, undefined>

const eventOf = (result: IteratorResult<ClusterEvent, void>) =>
  result.done === true ? undefined : result.value
/** What an event of the audit says; else its type. */
const saidBy = (event: ClusterEvent | undefined) =>
  event?.type === 'audit' ? event.record.details['user'] : event?.type
const next = async (of: Followed) => saidBy(eventOf(await of.next()))

test('a follower that is further behind than events are kept is cut with a reason, and goes on from its place', async () => {
  await using store = await openTestStore(':memory:')
  const record = (user: number) =>
    store.transaction((db) =>
      auditStore(db).append(
        { type: 'user_created', by: fairlead, details: { user } },
        new Date().toISOString(),
      ),
    )
  const inner = createEventFeed(store, { events: 20, characters: 1_000_000 })
  let waits = 0
  const feed: EventFeed = {
    watch(wants) {
      const watch = inner.watch(wants)
      const news = (signal: AbortSignal) => {
        waits += 1
        return watch.news(signal)
      }
      return { ...watch, news, [Symbol.dispose]: () => watch[Symbol.dispose]() }
    },
  }
  const events = createClusterEvents({
    store,
    marks: { of: () => undefined },
    feed,
    now: Date.now,
    log: pino({ level: 'silent' }),
    nodes: { describe: async () => null },
    databases: { list: async () => [], get: () => Promise.reject(new Refusal('db_not_exist')) },
  })
  const stop = new AbortController()
  const user = { uid: 1, name: 'admin', grants: [{ management: 'admin', databases: null }] } as const
  const viewer = { user: () => user, onChange: () => undefined }
  const read = (from?: number) =>
    events.follow(
      { topics: new Set(['audit']), database: undefined },
      viewer,
      from === undefined ? undefined : { seq: from },
      stop.signal,
    )
  const [slow, quick] = [read(), read()]
  for (const one of [slow, quick]) expect([await next(one), await next(one)]).toEqual(['snapshot', 'live'])
  let place = 0
  // The second one comes to followers that wait for what is kept: nothing is read from the store any more.
  for (const user of [0, 1]) {
    const before = waits
    const both = [slow.next(), quick.next()]
    await until('both wait', () => waits >= before + 2)
    await record(user)
    const got = (await Promise.all(both)).map(eventOf)
    expect(got.map(saidBy)).toEqual([user, user])
    place = got[0]?.type === 'audit' ? got[0].seq : 0
  }
  for (let user = 2; user <= 100; user += 1) {
    await record(user)
    expect(await next(quick)).toBe(user)
  }
  await expect(slow.next()).rejects.toMatchObject({ name: 'StreamCut', reason: 'slow_reader' })
  const again = read(place)
  for (let user = 2; user <= 100; user += 1) expect(await next(again)).toBe(user)
  stop.abort()
  expect(await again.next()).toMatchObject({ done: true })
})

test('what is kept is bounded by number and by size, and the newest is kept in any case', () => {
  const ring = createEventRing({ events: 3, characters: 100 })
  const event = (seq: number, size: number) => ({ seq, size, topic: 'databases', databaseUid: 1 }) as const
  const kept = () => [0, 1, 2, 3, 4, 5].filter((place) => ring.at(place) !== undefined)
  for (let n = 0; n < 5; n += 1) ring.add(event(n, 10))
  expect([ring.first(), kept()]).toEqual([2, [2, 3, 4]])
  ring.add(event(5, 1_000))
  expect([ring.first(), kept(), ring.at(5)?.seq]).toEqual([5, [5], 5])
  ring.clear()
  expect([ring.first(), kept()]).toEqual([6, []])
})
