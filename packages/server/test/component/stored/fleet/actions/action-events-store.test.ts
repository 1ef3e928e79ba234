import { expect, test } from 'vitest'
import { type ActionChange, visibleOf } from '../../../../../src/core/state/action-event.ts'
import {
  actionEventsStore,
  KEPT_DAYS,
  MOST_KEPT,
} from '../../../../../src/fleet/stores/action-events-store.ts'
import { actionsStore } from '../../../../../src/fleet/stores/actions-store.ts'
import { eventNumbersStore } from '../../../../../src/store/event-numbers-store.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { openTestStore } from '../../../../open-test-store.ts'
import { goalOf } from '../../../../simulation/group.ts'

const at = '2026-11-21T12:00:00.000Z'
const daysLater = (days: number) => new Date(Date.parse(at) + days * 86_400_000).toISOString()
const goal = goalOf()
const begin = (store: Store, uid: string, databaseUid: number, now = at) =>
  actionsStore(store.db).insert({ uid, databaseUid, kind: 'upgrade', goal }, now)
const eventsOf = (store: Store, uid: string, after = 0) =>
  actionEventsStore(store.db).listAfter(uid, after, 10_000)

/** The action's state, folded from all its events. */
async function foldOf(store: Store, uid: string, after = 0): Promise<ActionChange> {
  const changes = (await eventsOf(store, uid, after)).map((one) => (one.type === 'action' ? one.change : {}))
  return Object.assign({}, ...changes) as ActionChange
}

// invariant: Every visible change of an action is an event, written in the same transaction.
test('an event and its change are written together or not at all; a change that people do not see makes no event', async () => {
  await using store = await openTestStore(':memory:')
  await begin(store, 'a', 1)
  const failing = store.transaction(async (db) => {
    await actionsStore(db).update('a', { progress: 50 }, at)
    throw new Error('half-way')
  })
  await expect(failing).rejects.toThrow('half-way')
  await actionsStore(store.db).update('a', { pending: [], progress: 0 }, at)
  await actionsStore(store.db).update('unknown', { progress: 1 }, at)
  await actionsStore(store.db).update('a', { goal: { ...goal, undo: true }, error: 'no room' }, at)
  expect(await eventsOf(store, 'a', 1)).toEqual([
    { seq: 2, actionUid: 'a', at, type: 'action', change: { error: 'no room', undo: true } },
  ])
})

test('sequence numbers rise over all actions, and the actions with new events are known', async () => {
  await using store = await openTestStore(':memory:')
  await begin(store, 'a', 1)
  await begin(store, 'b', 2)
  await actionsStore(store.db).update('a', { progress: 1 }, at)
  const events = actionEventsStore(store.db)
  expect((await events.between(1, 99, 10)).map(({ seq, actionUid }) => ({ seq, actionUid }))).toEqual([
    { seq: 2, actionUid: 'b' },
    { seq: 3, actionUid: 'a' },
  ])
  expect(await eventNumbersStore(store.db).last()).toBe(3)
})

test('an action keeps only its last events, which still add up to its whole state', async () => {
  await using store = await openTestStore(':memory:')
  await begin(store, 'a', 1)
  await begin(store, 'b', 2)
  const actions = actionsStore(store.db)
  await actions.update('a', { status: 'running', step: 'add-shard', error: 'kept in an event that goes' }, at)
  // Many in a transaction: each costs a round trip to another process.
  const turns = Array.from({ length: MOST_KEPT + 20 }, (_, n) => n)
  for (let from = 0; from < turns.length; from += 500)
    await store.transaction(async (db) => {
      for (const n of turns.slice(from, from + 500))
        await actionsStore(db).update('a', { waitingFor: `turn ${n}` }, at)
    })

  const kept = await eventsOf(store, 'a')
  expect(kept).toHaveLength(MOST_KEPT)
  expect(kept[0]?.seq).toBeGreaterThan(20)
  const action = await actions.get('a')
  if (action === undefined) throw new Error('it is gone')
  expect(await foldOf(store, 'a')).toEqual(visibleOf(action))
  expect(await eventsOf(store, 'b')).toHaveLength(1)
})

test('events are dropped some time after the end of their action, when another one begins', async () => {
  await using store = await openTestStore(':memory:')
  const actions = actionsStore(store.db)
  await begin(store, 'long', 1)
  await begin(store, 'ended', 2)
  await actions.update('ended', { status: 'done' }, daysLater(1))
  await begin(store, 'later', 3, daysLater(KEPT_DAYS))
  expect(await eventsOf(store, 'ended')).toHaveLength(2)
  await begin(store, 'latest', 4, daysLater(KEPT_DAYS + 2))
  expect(await eventsOf(store, 'ended')).toEqual([])
  expect(await actions.get('ended')).toMatchObject({ status: 'done' })
  for (const uid of ['long', 'later', 'latest']) expect(await eventsOf(store, uid)).toHaveLength(1)
})
