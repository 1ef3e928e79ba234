import { actionOutcomes } from '@fairlead/api'
import { expect, test } from 'vitest'
import { openTestStore } from '../../../test/open-test-store.ts'
import { databaseOf } from '../../../test/records.ts'
import { outcomeOf } from '../../core/state/action-phase.ts'
import { steadyGoal } from '../../core/state/database.ts'
import { actionsStore } from './actions-store.ts'
import { chooseActions } from './chosen-actions-store.ts'
import { databasesStore } from './databases-store.ts'

const at = '2026-11-21T12:00:00.000Z'
const statuses = ['queued', 'running', 'done', 'failed'] as const
const endings = [null, 'rolled_back', 'cancelled', 'failed'] as const

test('the store chooses by the outcome that people are shown, in every state and with every ending', async () => {
  await using store = await openTestStore(':memory:')
  const shown = new Map<string, string | null>()
  for (const status of statuses)
    for (const ending of endings) {
      const uid = `${status}-${ending}`
      // One action at a time for each database.
      const database = await databasesStore(store.db).insert({ ...databaseOf({ name: uid }), groups: 1 })
      const goal = steadyGoal(database)
      await actionsStore(store.db).insert({ uid, databaseUid: database.uid, kind: 'upgrade', goal }, at)
      await actionsStore(store.db).update(uid, { status, ending }, at)
      const action = await actionsStore(store.db).get(uid)
      expect(action).toMatchObject({ status, ending })
      shown.set(uid, outcomeOf({ status, ending }))
    }
  const order = { by: 'created_time', descending: false } as const
  for (const outcome of Object.keys(actionOutcomes) as (keyof typeof actionOutcomes)[]) {
    const rows = await chooseActions(store.db, { order, outcome }).execute()
    const wanted = [...shown].filter(([, one]) => one === outcome).map(([uid]) => uid)
    expect([outcome, rows.map(({ uid }) => uid).toSorted()]).toEqual([outcome, wanted.toSorted()])
    expect(wanted.length).toBeGreaterThan(0)
  }
})
