import type { Action } from '@fairlead/api'
import { expect, test } from 'vitest'
import { countEvents, listEvents } from './list-events.ts'

const step = (op_name: string, label: string, began: string | null, ended: string | null) => ({
  op_name,
  label,
  shard: '2',
  from: op_name === 'hand-over' ? '1' : null,
  why: 'because',
  state: ended === null ? (began === null ? 'planned' : 'running') : 'done',
  began,
  ended,
})
const at = (second: number) => `2026-11-26T00:00:0${second}.000Z`
const lanes = [
  {
    group: 3,
    steps_left_out: 0,
    steps: [
      step('start-shard', 'start', at(1), at(2)),
      step('record-wish', 'record', at(2), at(2)),
      step('hand-over', 'hand over', at(2), at(3)),
      step('stop-shard', 'stop', at(4), null),
      step('seal', 'to come', null, null),
    ],
  },
]
const action = {
  creation_time: at(0),
  began_time: at(0),
  ended_time: null,
  requested_by: 'eve',
  outcome: null,
  lanes,
  certificates: [{ group: 3, from: '1', to: '2', write_stop_ms: 2.85 }],
} as unknown as Action

test('events are what has begun, the newest first, with the write stop of a handover, and without what is only written down', () => {
  expect(listEvents(action).map(({ at: time, group, what }) => [time, group, what])).toEqual([
    [at(4), 3, 'stop 2 …'],
    [at(3), 3, 'hand over 1 → 2, write stop 2.9 ms'],
    [at(2), 3, 'start 2'],
    [at(0), null, 'begins'],
    [at(0), null, 'asked for by eve'],
  ])
})

test('the number of events says how many steps are not listed any more', () => {
  const events = listEvents(action)
  expect(countEvents(events, action)).toBe('5 events')
  const older = { ...action, lanes: [{ ...lanes[0], steps_left_out: 7 }] } as unknown as Action
  expect(countEvents(events, older)).toBe('5 of 12 events')
})
