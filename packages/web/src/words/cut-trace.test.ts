import type { HandoverTrace } from '@fairlead/api'
import { expect, test } from 'vitest'
import { cutTrace } from './cut-trace.ts'

const part = (from: number, to: number) => ({ from, to })
const trace: HandoverTrace = {
  ...{
    action_uid: 'a',
    handover: 1,
    group: 0,
    from: '1',
    to: '2',
    t0: '2026-11-26T07:00:00Z',
    bucket_ms: 10,
  },
  ...{ replies: [9, 8, 0, 0, 7, 9], held: [0, 0, 3, 4, 0, 0], errors: [0, 0, 0, 1, 0, 0] },
  marks: {
    hold: part(20, 24),
    pause: part(24, 26),
    equal: part(26, 27),
    promote: part(27, 30),
    release: part(30, 35),
  },
}

test('a trace is cut around the time in which clients were held, and counts from its begin', () => {
  expect(cutTrace(trace, 10)).toEqual([
    { at: -10, replies: 8, held: 0, errors: 0 },
    { at: 0, replies: 0, held: 3, errors: 0 },
    { at: 10, replies: 0, held: 4, errors: 1 },
    { at: 20, replies: 7, held: 0, errors: 0 },
  ])
  expect(cutTrace(trace, 2_500)).toHaveLength(6)
})
