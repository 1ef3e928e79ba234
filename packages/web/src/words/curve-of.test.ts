import { expect, test } from 'vitest'
import { partsOf, valuesOf } from './curve-of.ts'

const at = (seconds: number, latency?: number) => ({
  stime: new Date(1_000 * seconds).toISOString(),
  etime: new Date(1_000 * (seconds + 10)).toISOString(),
  ...(latency !== undefined && { latency }),
})

test('a minute without requests, or without any interval, is a gap in the curve: no line goes through it', () => {
  const series = [at(0, 5), at(10, 7), at(20), at(30, 9), at(60, 2)]
  const values = valuesOf(series, ({ latency }) => latency)
  expect(values).toEqual([5, 7, undefined, 9, undefined, undefined, 2])
  expect(partsOf(values)).toEqual([
    [
      [0, 5],
      [1, 7],
    ],
    [[3, 9]],
    [[6, 2]],
  ])
  expect(valuesOf([], () => 1)).toEqual([])
})
