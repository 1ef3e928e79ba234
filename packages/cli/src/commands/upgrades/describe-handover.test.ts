import { expect, test } from 'vitest'
import { describeHandover } from './describe-handover.ts'

const certificate = {
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
  full_syncs: 0,
  at: '2026-11-26T07:39:19.165Z',
}

test('a handover says that offsets are equal only if they are', () => {
  expect(describeHandover(certificate)).toBe(
    'handover 1 -> 11, write stop 2.9 ms, offsets 281602 = 281602, 2140 keys, 0 full syncs',
  )
  expect(describeHandover({ ...certificate, offset_to: 281_600 })).toContain('offsets 281602 > 281600')
  expect(describeHandover({ ...certificate, offset_to: 281_700 })).toContain('offsets 281602 < 281700')
  expect(describeHandover({ ...certificate, write_stop_ms: null, offset_to: null, group: 2 })).toBe(
    'group 2 handover 1 -> 11, write stop not known, 2140 keys, 0 full syncs',
  )
})

test('each length of a handover has the word of the glossary', () => {
  const measured = { ...certificate, held_ms: 5.64, longest_wait_ms: 5.12 }
  expect(describeHandover(measured)).toContain('write stop 2.9 ms, longest wait 5.1 ms, hold 5.6 ms, offsets')
})
