import type { Action } from '@fairlead/api'
import { expect, test } from 'vitest'
import { actionOf, NOW } from '../../test/action-of.ts'
import { headlineOf, keptOf, meanwhileOf } from './describe-action.ts'

const lane = (group: number, isReady: boolean) => ({
  group,
  handed_over: false,
  steps: [],
  waiting: isReady ? { hold_reason: 'supervised' } : null,
})
const ready = (...groups: readonly boolean[]) =>
  headlineOf({
    phase: 'ready',
    outcome: null,
    name: 'SMUpgradeBDB',
    from: null,
    goal: null,
    began_time: null,
    ended_time: null,
    lanes: groups.map((is, group) => lane(group, is)),
    // What the sentence is made of, and no more.
  } as unknown as Action)

test('groups are counted from one and named by their numbers from zero, and a sentence says which it does', () => {
  expect(ready(true, false, false)).toBe('Ready for your go: 1 of 3 groups (group 0)')
  expect(ready(true, true, false)).toBe('Ready for your go: 2 of 3 groups (groups 0 and 1)')
  expect(ready(true, true, true)).toBe('Ready for your go: all 3 groups')
})

test('the headline of an action that has ended says how, to what, and after how long', () => {
  const ended = (outcome: Action['outcome']) =>
    headlineOf(actionOf('ended', { outcome, began_time: NOW, ended_time: '2026-11-26T07:42:05.000Z' }))
  expect(ended('rolled_back')).toBe('Rolled back to redis 7.0.15 after 5 s')
  expect(ended('completed')).toBe('Completed after 5 s')
  expect(headlineOf(actionOf('window'))).toBe('Served by valkey 8.1.1; the old primaries follow')
})

test('the headline of a database with several groups never goes back to the begin while they hand over one after another', () => {
  const after = (phase: 'preparing' | 'handing_over', moved: number) => {
    const lanes = [0, 1].map((group) => ({ ...lane(group, false), handed_over: group < moved }))
    return headlineOf(actionOf(phase, { lanes: lanes as never }))
  }
  expect(after('preparing', 0)).toMatch(/^Prepares the new shards/)
  const course = [after('handing_over', 0), after('preparing', 1), after('handing_over', 1)]
  expect(course).toEqual([0, 1, 1].map((moved) => `Hands over: ${moved} of 2 groups done`))
})

test('of an upgrade that failed before its handover it is said that clients are served as before', () => {
  const failed = actionOf('ended', { outcome: 'failed', lanes: [lane(0, false)] as never })
  expect(keptOf(failed, failed.from)).toMatch(/^Clients are served by redis 7\.0\.15 as before: /)
  expect(keptOf(failed, failed.goal)).toBeNull()
})

test('the line below the headline is blank only where another one says why', () => {
  const name = 'SMUpgradeBDB'
  const phases = ['queued', 'preparing', 'ready', 'handing_over', 'window', 'finishing', 'paused'] as const
  for (const phase of phases) expect(meanwhileOf({ name, phase, window_ends: null }), phase).not.toBe('')
  expect(meanwhileOf({ name, phase: 'window', window_ends: null })).toBe(
    'The old primaries stay as standbys until a user finalizes or rolls back',
  )
  expect(meanwhileOf({ name, phase: 'stuck', window_ends: null })).toBe('')
})
