import type { Certificate } from '@fairlead/api'
import { expect, test } from 'vitest'
import { eventsOf } from './tell-upgrade.ts'

const step = (op_name: 'add-shard' | 'hand-over', began: string | null) => ({
  op_name,
  label: op_name,
  shard: '3',
  from: null,
  role: null,
  state: 'done' as const,
  began,
  ended: null,
  why: '',
})
const lane = { group: 0, state: 'done', handed_over: true, waiting: null, steps_left_out: 0 } as const
const certificate = {
  from: '1',
  to: '3',
  group: 0,
  offset_from: 7,
  offset_to: 7,
  write_stop_ms: 3.21,
  longest_wait_ms: 8,
  held_ms: 9,
  keys: 2,
  at: '2026-11-30T10:00:01.500Z',
} as Certificate // as much of it as is told

test('steps that have begun and handovers are told in the order of time', () => {
  const steps = [
    step('add-shard', '2026-11-30T10:00:00.000Z'),
    step('hand-over', '2026-11-30T10:00:01.000Z'),
    step('add-shard', null),
  ]
  const lines = eventsOf({
    lanes: [{ ...lane, steps, sync: null, lag_bytes: null }],
    certificates: [certificate],
  }).map(({ line }) => line)
  expect(lines.slice(0, 2)).toEqual(['add-shard: shard 3', 'hand-over: shard 3'])
  expect(lines[2]).toContain('3.2 ms')
  expect(lines).toHaveLength(3)
})
