import type { Action, OrderName } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from, to } = usualPair()
const GROUPS = 3

let fairlead: Fairlead
let uid: number
beforeAll(async () => {
  fairlead = await startFairlead()
  const body = {
    name: 'sharded',
    memory_size: 0,
    replication: true,
    shards_count: GROUPS,
    engine_version: from,
  }
  const created = await fairlead.api.createDatabase({ body })
  await fairlead.untilEnded(created.action_uid)
  uid = created.uid
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const give: Readonly<Record<OrderName, (uid: string) => Promise<Action>>> = {
  pause: (action) => fairlead.api.pauseAction({ params: { uid: action } }),
  resume: (action) => fairlead.api.resumeAction({ params: { uid: action } }),
  cancel: (action) => fairlead.api.cancelAction({ params: { uid: action } }),
  rollback: (action) => fairlead.api.rollbackAction({ params: { uid: action } }),
  finalize: (action) => fairlead.api.finalizeAction({ params: { uid: action } }),
  redo: (action) => fairlead.api.redoAction({ params: { uid: action } }),
  retry: (action) => fairlead.api.retryAction({ params: { uid: action } }),
}

async function begin(policy: object = {}): Promise<string> {
  const body = { engine_version: to, rollback_window: 'until_finalized', ...policy } as const
  const { action_uid = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
  return action_uid
}
const show = (action: string) => fairlead.api.getAction({ params: { uid: action } })
const movedIn = ({ lanes = [] }: Action) => lanes.filter(({ handed_over }) => handed_over).length
const untilIt = (action: string, what: string, fits: (now: Action) => boolean) =>
  until(what, async () => {
    const now = await show(action)
    return fits(now) && now
  })

/**
 * Gives an order that is offered: its answer has the phase that was promised, or that of a group which has
 * gone on since.
 */
async function order(action: string, name: OrderName, goneOn?: Action['phase']): Promise<Action> {
  const { ok, why, leads_to } = (await show(action)).orders[name]
  expect([name, ok, why]).toEqual([name, true, ''])
  const after = await give[name](action)
  expect([leads_to, goneOn], name).toContain(after.phase)
  return after
}

async function expectServes(version: string): Promise<void> {
  const { engine, engine_version, status } = await fairlead.api.getDatabase({ params: { uid } })
  expect([`${engine}-${engine_version}`, status]).toEqual([version, 'active'])
}

/** The first group has handed over, and not all of them. */
async function pausedHalfway(): Promise<string> {
  const action = await begin()
  await untilIt(action, 'the first group has handed over', (now) => movedIn(now) > 0)
  await order(action, 'pause')
  const paused = await untilIt(
    action,
    'the pause is what it waits for',
    ({ waiting }) => waiting?.hold_reason === 'paused',
  )
  expect([paused.phase, paused.waiting?.on]).toEqual(['paused', 'person'])
  expect(paused.orders.retry).toMatchObject({ ok: false, error_code: 'order_not_applicable' })
  return action
}

test('an upgrade of several groups that is paused in between and cancelled goes back in every group', async () => {
  const action = await pausedHalfway()
  const paused = await show(action)
  expect(paused.orders.finalize.ok).toBe(movedIn(paused) === GROUPS)
  await order(action, 'cancel')
  expect(await fairlead.untilEnded(action)).toMatchObject({
    status: 'failed',
    outcome: 'cancelled',
    progress: 100,
  })
  await expectServes(from)
})

test('one that is taken back in its window can be turned round, taken back again, and ends as it was', async () => {
  const action = await begin()
  await untilIt(action, 'the window', ({ phase }) => phase === 'window')
  await order(action, 'rollback')
  // The rollback goes on between the promise and the order: a group may have moved back.
  await order(action, 'redo', 'handing_over')
  await untilIt(action, 'the window again', ({ phase }) => phase === 'window')
  await order(action, 'pause')
  await order(action, 'rollback')
  expect(await fairlead.untilEnded(action)).toMatchObject({ outcome: 'rolled_back', progress: 100 })
  await expectServes(from)
})

test('one that is paused in between and resumed hands over in every group, and is finalized', async () => {
  const action = await pausedHalfway()
  await order(action, 'resume')
  const open = await untilIt(action, 'the window', ({ phase }) => phase === 'window')
  expect([movedIn(open), open.orders.retry.ok, open.orders.resume.ok]).toEqual([GROUPS, false, false])
  await order(action, 'finalize')
  expect(await fairlead.untilEnded(action)).toMatchObject({ outcome: 'completed', progress: 100 })
  await expectServes(to)
})
