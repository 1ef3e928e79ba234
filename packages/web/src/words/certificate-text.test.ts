import type { Action, Certificate } from '@fairlead/api'
import { expect, test } from 'vitest'
import {
  areEqual,
  certificatesAsMarkdown,
  clocksOf,
  lengthsShown,
  proofOf,
  stopOf,
  waitOf,
} from './certificate-text.ts'
import type { Step } from './fold-steps.ts'

const certificate: Certificate = {
  from: '1',
  to: '11',
  replid: 'a'.repeat(40),
  offset_from: 281_602,
  offset_to: 281_602,
  keys: 2_140,
  write_stop_ms: 2.85,
  held_ms: null,
  group: 0,
  phases: null,
  clients_held: null,
  requests_held: null,
  longest_wait_ms: null,
  recovered: false,
  full_syncs: null,
  at: '2026-11-26T07:39:19.165Z',
}
const runs = (engine_version: string) => ({ engine: 'valkey', engine_version, modules: [] })
// What the text is made of, and no more.
const action = {
  action_uid: 'a',
  requested_by: 'eve',
  certificates: [certificate],
  warnings: ['a setting stays'],
  from: runs('8.0.1'),
  goal: runs('9.1.2'),
} as unknown as Action

test('a certificate says equal only of two offsets that are on record and the same', () => {
  expect(areEqual(certificate)).toBe(true)
  expect(areEqual({ ...certificate, offset_to: 281_601 })).toBe(false)
  expect(areEqual({ ...certificate, offset_to: null })).toBeUndefined()
  expect(proofOf({ ...certificate, offset_to: 281_601 })).toContain('is lost')
  const unknown = { ...action, certificates: [{ ...certificate, offset_from: null }] }
  expect(certificatesAsMarkdown(unknown, 'orders')).toContain('| ? · 281,602 |')
})

test('of an empty group a certificate does not say that data was compared', () => {
  expect(proofOf({ ...certificate, keys: 0 })).toContain('Nothing to compare: the group is empty')
  expect(proofOf({ ...certificate, keys: 0, offset_to: 281_601 })).toContain('is lost')
  expect(proofOf(certificate)).toContain('what the old primary had acknowledged')
})

test('the longest wait of a client is 0 only where it was measured', () => {
  expect(waitOf({ longest_wait_ms: 143.2, clients_held: 2 })).toEqual({
    number: '143.2 ms',
    words: 'longest wait of a client',
  })
  expect(waitOf({ longest_wait_ms: 0, clients_held: null }).words).toContain('no client asked anything')
  expect(waitOf({ longest_wait_ms: 0.01, clients_held: 0 })).toMatchObject({ number: 'none' })
  expect(waitOf({ longest_wait_ms: null, clients_held: null })).toMatchObject({ number: 'not measured' })
})

test('where two clocks have measured, the certificate says which', () => {
  const phases = { hold: 1, pause: 1, equal: 1, promote: 1, release: 1 }
  expect(clocksOf({ held_ms: 140, phases })).toMatch(/clock of the proxy.*that of the server/)
  expect(clocksOf({ held_ms: null, phases })).toBeNull()
})

test('a handover has the write stop of its own certificate, also when its group went back afterwards', () => {
  const back = { ...certificate, from: '11', to: '1', write_stop_ms: 48.9 }
  const step = (from: string, shard: string) =>
    ({ op_name: 'hand-over', state: 'done', from, shard }) as unknown as Step
  expect(stopOf(step('1', '11'), [certificate, back])).toBe('2.9 ms')
  expect(stopOf(step('11', '1'), [certificate, back])).toBe('48.9 ms')
  expect(stopOf(step('11', '1'), [certificate])).toBeNull()
})

test('its Markdown has each value, and never 0 for one that was not measured', () => {
  const text = certificatesAsMarkdown(action, 'orders')
  expect(text).toContain(
    '| 0 | 1 → 11 | 2026-11-26T07:39:19.165Z | 2.9 ms | not measured | not measured | not measured | 281,602 = 281,602 | 2,140 | counting |',
  )
  expect(text).toContain('Upgrade of orders: valkey 8.0.1 → valkey 9.1.2')
  expect(text).toContain('- a setting stays')
  expect(text).toContain('- Write stop: no shard of the group took writes')
})

test('every length that a certificate has is explained, and no other', () => {
  const phases = { hold: 1, pause: 1, equal: 1, promote: 1, release: 1 }
  const labelsOf = (one: Certificate) => lengthsShown([one]).map(({ label }) => label)
  expect(labelsOf(certificate)).toEqual(['Write stop'])
  expect(labelsOf({ ...certificate, held_ms: 5, longest_wait_ms: 5, phases })).toEqual([
    ...['Write stop', 'Longest wait', 'Hold', 'Whole handover'],
  ])
})
