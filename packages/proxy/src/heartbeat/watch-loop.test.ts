import { expect, test } from 'vitest'
import { type ThreadUse, watchLoop } from './watch-loop.ts'

const crumb = (turns: number) => ({ turns, thread: 1, doing: 'takes requests of a client' })
const use =
  (cpuMs: number, state = 'R') =>
  (): ThreadUse => ({ cpuMs, state })
const never = (): ThreadUse => {
  throw new Error('must not ask the kernel')
}

test('a turn counts from the first look that finds it, and ends with the next number', () => {
  const watch = watchLoop('main')
  expect(watch.look(crumb(1), 0, never)).toMatchObject({ turnMs: 0, cpuMs: 0, idleMs: 0 })
  expect(watch.look(crumb(1), 500, use(100))).toMatchObject({ turnMs: 500, cpuMs: 0 })
  expect(watch.look(crumb(1), 1_000, use(590))).toMatchObject({ turnMs: 1_000, cpuMs: 490 })
  expect(watch.look(crumb(2), 1_500, never)).toMatchObject({ turns: 2, turnMs: 0, cpuMs: 0 })
  expect(watch.look(crumb(2), 2_000, use(2_000))).toMatchObject({ turnMs: 500, cpuMs: 0 })
})

test('only a thread that uses no processor, and waits for neither a processor nor a disk, counts as doing nothing', () => {
  const watch = watchLoop('main')
  const idleAfter = (now: number, cpuMs: number, state: string) =>
    watch.look(crumb(1), now, use(cpuMs, state)).idleMs
  watch.look(crumb(1), 0, never)
  expect(idleAfter(500, 100, 'S')).toBe(0)
  expect(idleAfter(1_000, 100, 'S')).toBe(500)
  // It waits for a processor, then for a disk, then it has used some.
  expect(idleAfter(1_500, 100, 'R')).toBe(0)
  expect(idleAfter(2_000, 100, 'D')).toBe(0)
  expect(idleAfter(2_500, 110, 'S')).toBe(0)
  expect(idleAfter(3_000, 110, 't')).toBe(500)
  // The watching thread was stopped itself.
  expect(idleAfter(100_000, 110, 'S')).toBe(3_000)
})
