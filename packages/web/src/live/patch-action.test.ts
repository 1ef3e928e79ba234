import type { Action } from '@fairlead/api'
import { expect, test } from 'vitest'
import { type ActionChange, patchAction } from './patch-action.ts'

const about = { action_uid: 'a', bdb_uid: 1, time: '2026-11-26T00:00:00Z' }
// What the functions under test read of an action, and no more.
const action = { phase: 'preparing', progress: 10, certificates: [] } as unknown as Action
const step = (label: string) => ({ op_name: 'follow', label, state: 'done' }) as never

test('an event changes what it names of an action, and nothing else', () => {
  const event = { ...about, seq: 5, type: 'action', progress: 40 } as ActionChange
  expect(patchAction(action, event)).toEqual({ ...action, progress: 40 })
})

test('patches of lanes, applied in order, are the lanes', () => {
  const patch = (lanes: readonly object[]) => ({ ...about, type: 'lanes', lanes }) as unknown as ActionChange
  const begun = patchAction(
    action,
    patch([
      { group: 1, state: 'running', steps: { 0: step('a') } },
      { group: 0, state: 'waiting' },
    ]),
  )
  const later = patchAction(
    begun,
    patch([{ group: 1, steps: { 0: step('b'), 1: step('c') }, steps_count: 2 }]),
  )
  const shorter = patchAction(later, patch([{ group: 1, handed_over: true, steps_count: 1 }]))
  expect(begun.lanes?.map(({ group }) => group)).toEqual([0, 1])
  expect(later.lanes?.[1]?.steps.map(({ label }) => label)).toEqual(['b', 'c'])
  expect(shorter.lanes?.[1]).toMatchObject({ state: 'running', handed_over: true, steps: [step('b')] })
})

test('a step after one that was never heard of leaves no hole', () => {
  const lanes = [{ group: 0, steps: { 1: step('b') } }]
  const event = { ...about, type: 'lanes', lanes } as unknown as ActionChange
  expect(patchAction(action, event).lanes?.[0]?.steps).toEqual([])
})

test('a certificate that comes again with its full syncs takes the place of the first', () => {
  const certificate = { from: '1', to: '2', at: '2026-11-26T00:00:01Z', full_syncs: null }
  const event = (full_syncs: number | null) =>
    ({ ...about, type: 'handover', certificate: { ...certificate, full_syncs } }) as unknown as ActionChange
  const both = patchAction(patchAction(action, event(null)), event(0))
  expect(both.certificates.map(({ full_syncs }) => full_syncs)).toEqual([0])
})
