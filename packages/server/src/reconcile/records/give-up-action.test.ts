import { expect, test } from 'vitest'
import type { Action, ActionNews } from '../../core/state/action.ts'
import type { LaneRecord, TakenStep } from '../../core/state/lane-record.ts'
import { giveUpAction } from './give-up-action.ts'

const step: TakenStep = {
  kind: 'add-shard',
  shard: null,
  from: null,
  role: 'surge',
  why: 'a surge shard',
  state: 'running',
  began: '2026-11-21T12:00:00.000Z',
  ended: null,
}
const lanes = [0, 1].map(
  (group): LaneRecord => ({
    group,
    state: 'running',
    handedOver: false,
    waiting: null,
    steps: [step],
    leftOut: 0,
    toCome: [],
    sync: null,
    lagBytes: null,
  }),
)
// What is read of it when it is given up.
const action = { uid: 'a', databaseUid: 1, goal: { from: null } } as unknown as Action

async function newsOf(of: { readonly why: string; readonly group?: number }): Promise<ActionNews> {
  let news: ActionNews = {}
  await giveUpAction(action, of, {
    now: () => Date.parse('2026-11-21T12:00:01.000Z'),
    log: { warn: () => undefined } as never,
    actions: {
      lanes: async () => lanes,
      update: async (_, given) => {
        news = given
      },
    },
  })
  return news
}

test('when an action is given up, the step of the group that has shown it is told as failed, and no other', async () => {
  const { lanes: told } = await newsOf({ why: 'the target does not start', group: 1 })
  expect(told).toMatchObject([
    { group: 1, steps: [{ kind: 'add-shard', state: 'failed', ended: '2026-11-21T12:00:01.000Z' }] },
  ])
  expect((await newsOf({ why: 'it fails again and again' })).lanes).toBeUndefined()
})
