import { expect, test } from 'vitest'
import { watchActivity } from './watch-activity.ts'

type Threads = readonly (readonly [state: string, ticks: number])[]

/** Looks once a second at a process that has these states, one after the other. */
function doings(...shown: readonly Threads[]) {
  let turn = 0
  const watch = watchActivity(() => (shown[turn] ?? []).map(([state, ticks]) => ({ state, ticks })))
  return shown.map((_, n) => {
    turn = n
    const seen = watch.look(1, n * 1_000)
    return seen && [seen.doing, seen.idleMs]
  })
}

test('a process that uses the processor, or waits for its turn, works', () => {
  expect(doings([['S', 5]], [['S', 6]], [['R', 6]])).toEqual([
    ['idle', 0],
    ['works', 0],
    ['works', 0],
  ])
})

test('a process that waits for the disk, in any of its threads, is not idle', () => {
  expect(
    doings(
      [['D', 5]],
      [
        ['S', 5],
        ['D', 0],
      ],
      [
        ['S', 5],
        ['S', 0],
      ],
    ),
  ).toEqual([
    ['disk', 0],
    ['disk', 0],
    ['idle', 1_000],
  ])
})

test('housekeeping in other threads is no work, half a processor is', () => {
  expect(
    doings(
      [
        ['S', 5],
        ['S', 100],
      ],
      [
        ['S', 5],
        ['S', 101],
      ],
      [
        ['S', 5],
        ['S', 151],
      ],
    ),
  ).toEqual([
    ['idle', 0],
    ['idle', 1_000],
    ['works', 0],
  ])
})

test('a stopped process has done nothing since, and a process that has ended gives null', () => {
  expect(doings([['R', 5]], [['T', 5]], [['t', 5]], [])).toEqual([
    ['works', 0],
    ['stopped', 1_000],
    ['stopped', 2_000],
    null,
  ])
})

test('a time in which the agent itself was stopped does not count against the process', () => {
  const watch = watchActivity(() => [{ state: 'S', ticks: 1 }])
  watch.look(1, 0)
  expect(watch.look(1, 1_000)?.idleMs).toBe(1_000)
  expect(watch.look(1, 3_600_000)?.idleMs).toBe(3_500)
})
