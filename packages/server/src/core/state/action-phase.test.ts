import { expect, test } from 'vitest'
import { goalOf, runningAction } from '../../../test/simulation/group.ts'
import type { Action } from './action.ts'
import { outcomeOf, phaseOf, windowEndsOf } from './action-phase.ts'
import { plainPolicy } from './goal.ts'
import type { WaitingSince } from './lane-record.ts'

const at = '2026-11-21T12:00:00.000Z'
const noon = Date.parse(at)
const wait: WaitingSince = {
  on: 'shard',
  shard: 1,
  until: null,
  stuck: false,
  code: 'full_sync',
  why: '',
  since: at,
}
const windowed = goalOf({ policy: { ...plainPolicy, rollbackWindow: 60 } })
const phase = (but: Partial<Action>, nowMs = noon) => phaseOf({ ...runningAction, ...but }, nowMs)

test('each moment of an upgrade has its phase', () => {
  expect(phase({ status: 'queued' })).toBe('queued')
  expect(phase({ waiting: wait })).toBe('preparing')
  expect(phase({ waiting: { ...wait, on: 'person', code: 'supervised' } })).toBe('ready')
  expect(phase({ handingOver: true })).toBe('handing_over')
  expect(phase({ goal: windowed, handedOverAt: at })).toBe('window')
  expect(phase({ handedOverAt: at })).toBe('finishing')
  expect(phase({ orders: { ...runningAction.orders, paused: true } })).toBe('paused')
  expect(phase({ goal: goalOf({ undo: true }) })).toBe('undoing')
  expect(phase({ status: 'done' })).toBe('ended')
  expect(phase({ status: 'failed' })).toBe('ended')
})

test('what only a person can mend comes before a pause, and before a rollback', () => {
  const stuck = { waiting: { ...wait, on: 'person', stuck: true } } as const
  expect(phase({ ...stuck, orders: { ...runningAction.orders, paused: true } })).toBe('stuck')
  expect(phase({ ...stuck, goal: goalOf({ undo: true }) })).toBe('stuck')
})

test('a window ends when its time is over, or when it is finalized, and says when', () => {
  const open = { ...runningAction, goal: windowed, handedOverAt: at }
  expect(windowEndsOf(open)).toBe('2026-11-21T12:01:00.000Z')
  expect([phaseOf(open, noon + 59_999), phaseOf(open, noon + 60_000)]).toEqual(['window', 'finishing'])
  const finalized = { ...open, orders: { ...open.orders, finalize: true } }
  expect([phaseOf(finalized, noon), windowEndsOf(finalized)]).toEqual(['finishing', null])
  const kept = { ...open, goal: goalOf({ policy: { ...plainPolicy, rollbackWindow: 'until-finalized' } }) }
  expect([phaseOf(kept, noon + 1e12), windowEndsOf(kept)]).toEqual(['window', null])
})

test('an action that was taken back ended as its order says, and as failed where Fairlead gave it up', () => {
  expect(outcomeOf({ status: 'done', ending: null })).toBe('completed')
  expect(outcomeOf({ status: 'failed', ending: 'rolled_back' })).toBe('rolled_back')
  expect(outcomeOf({ status: 'failed', ending: 'cancelled' })).toBe('cancelled')
  expect(outcomeOf({ status: 'failed', ending: null })).toBe('failed')
  expect(outcomeOf({ status: 'running', ending: 'rolled_back' })).toBeNull()
})
