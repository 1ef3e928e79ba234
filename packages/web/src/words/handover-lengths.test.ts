import { expect, test } from 'vitest'
import { lengthsOf } from './handover-lengths.ts'

const none = { longest_wait_ms: null, held_ms: null }
const numberOf = (text: string | undefined) => Number(text?.replace(' ms', ''))

test('the parts of a handover, as they are shown, add up to its write stop and to the whole', () => {
  const phases = { hold: 5.89, pause: 3.14, equal: 0.14, promote: 2.16, release: 15.74 }
  const { stop, whole, parts } = lengthsOf({ ...none, write_stop_ms: 5.44, phases })
  expect(stop).toBe('5.4 ms')
  const inStop = [parts?.pause, parts?.equal, parts?.promote].map(numberOf)
  expect(inStop.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(5.4, 5)
  const all = Object.values(parts ?? {}).map(numberOf)
  expect(numberOf(whole ?? '')).toBeCloseTo(
    all.reduce((sum, ms) => sum + ms, 0),
    5,
  )
})

test('what took less than can be shown is not said to have taken no time, and what was not measured is not said at all', () => {
  const phases = { hold: 0, pause: 143, equal: 0.02, promote: 254, release: 349.04 }
  const lengths = lengthsOf({ ...none, write_stop_ms: 397.02, phases })
  expect(lengths).toEqual({
    stop: '397.0 ms',
    longestWait: null,
    hold: null,
    whole: '746.0 ms',
    parts: { hold: '0.0 ms', pause: '143.0 ms', equal: '< 0.1 ms', promote: '254.0 ms', release: '349.0 ms' },
  })
  expect(lengthsOf({ ...none, write_stop_ms: 34, phases: null })).toMatchObject({ whole: null, parts: null })
})
