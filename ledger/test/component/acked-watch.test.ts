import { expect, test } from 'vitest'
import { createAckedWatch } from '../../src/acked-watch.ts'

test('the rate is that of the last second', () => {
  const watch = createAckedWatch()
  const startMs = performance.now() + 10_000
  watch.saw(0, startMs)
  for (let n = 1; n <= 20; n += 1) watch.saw(n * 100, startMs + n * 100)
  expect(watch.perSecond(startMs + 2_000)).toBeCloseTo(1_000)
})

test('a wait for a count ends when the count is reached, when it is late, and when the process has ended', async () => {
  const watch = createAckedWatch()
  const reached = watch.until(10, 1_000)
  watch.saw(10, performance.now())
  await reached
  await expect(watch.until(11, 5)).rejects.toThrow('only 10 of 11 writes were acknowledged within 5 ms')
  const dying = watch.until(12, 1_000)
  watch.end(new Error('it died'))
  await expect(dying).rejects.toThrow('it died')
  expect(() => watch.acked()).toThrow('it died')
})

test('an aborted wait ends at once', async () => {
  const abort = AbortSignal.abort(new Error('no longer of interest'))
  await expect(createAckedWatch().until(1, 10_000, abort)).rejects.toThrow('no longer of interest')
})
