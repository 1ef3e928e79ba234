import { expect, test } from 'vitest'
import {
  excused,
  FEWEST_HOLDS,
  isNeverToCome,
  LONGEST_OVERDUE_MS,
  type Overdue,
  stillOverdue,
  uncounted,
} from './overdue.ts'

/**
 * Delays holds repeatedly, at these intervals in milliseconds. After how many its reply counts as missing;
 * null: never.
 */
function givenUpAfter(
  everyMs: number,
  tries: number,
  { requestOf = () => 1, answersOthers = () => true }: Partial<Each> = {},
): number | null {
  let overdue: Overdue | null = null
  for (let n = 0; n <= tries; n += 1) {
    overdue = stillOverdue(overdue, requestOf(n), n * everyMs)
    if (!answersOthers(n)) overdue = excused(overdue, n * everyMs)
    if (isNeverToCome(overdue, n * everyMs)) return n * everyMs
  }
  return null
}

interface Each {
  readonly requestOf: (n: number) => number
  readonly answersOthers: (n: number) => boolean
}

test('a reply that is due for minutes while others are answered is given up, after a few attempts at least', () => {
  expect(givenUpAfter(10_000, 100)).toBe(LONGEST_OVERDUE_MS)
  expect(givenUpAfter(200_000, 100)).toBe((FEWEST_HOLDS - 1) * 200_000)
})

test('each of several slow commands in a row is waited for', () => {
  expect(givenUpAfter(10_000, 200, { requestOf: (n) => Math.floor(n / 20) })).toBeNull()
})

test('a command is waited for as long as its engine answers no other client: a script that runs for hours', () => {
  expect(givenUpAfter(10_000, 1_000, { answersOthers: () => false })).toBeNull()
  expect(givenUpAfter(10_000, 1_000, { answersOthers: (n) => n % 20 > 0 })).toBeNull()
})

test('holds that it delays in a row are counted for any reason', () => {
  const first = stillOverdue(null, 1, 0)
  const third = stillOverdue(excused(stillOverdue(first, 2, 10), 10), 2, 20)
  expect([first, third].map(({ times }) => times)).toEqual([1, 3])
})

test('a hold after which the engine could not be asked counts neither for a reply nor against it', () => {
  let overdue = stillOverdue(null, 1, 0)
  for (let n = 1; n < 100; n += 1) overdue = uncounted(stillOverdue(overdue, 1, n * LONGEST_OVERDUE_MS))
  expect(isNeverToCome(overdue, 100 * LONGEST_OVERDUE_MS)).toBe(false)
  for (let n = 0; n < FEWEST_HOLDS; n += 1) overdue = stillOverdue(overdue, 1, 100 * LONGEST_OVERDUE_MS)
  expect(isNeverToCome(overdue, 100 * LONGEST_OVERDUE_MS)).toBe(true)
})
