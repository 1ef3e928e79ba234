import { setImmediate as nextRound } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Allowance } from '../connection/allowance.ts'
import { beginTurn, createAllowance, endTurn, inTurn, isTurnOver } from './turns.ts'

const whom = new Uint8Array(0)
const LONG = 64 * 1024

/** The clock of these tests: only work takes time. */
let nowMs = performance.now()

/** Work that takes this long. */
function work(ms: number): void {
  nowMs += ms
}

/** Bytes for an endpoint that take this long. Whether they were handled at once. */
function comes(allowance: Allowance, ms: number, bytes = LONG): boolean {
  if (!beginTurn(allowance, 'takes requests of', whom, bytes)) return false
  work(ms)
  endTurn(allowance)
  return true
}

/** Several endpoints have been served lately. */
beforeEach(async () => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  for (const allowance of [createAllowance(), createAllowance()]) comes(allowance, 0.3)
  await nextRound()
  await nextRound()
})
afterEach(() => vi.restoreAllMocks())

test('in a long round only endpoints that have used little of it go on', async () => {
  const [loud, quiet] = [createAllowance(), createAllowance()]
  const seen = Array.from({ length: 30 }, () => comes(loud, 0.6))
  expect(seen.filter((wasSeen) => wasSeen).length).toBe(4)
  expect(comes(quiet, 0.1)).toBe(true)
  await nextRound()
  expect(comes(loud, 0.1)).toBe(true)
})

test('short work counts, too: 1,000 clients that send little', () => {
  const [loud, quiet] = [createAllowance(), createAllowance()]
  const seen = Array.from({ length: 1_000 }, () => comes(loud, 0, 10))
  expect(seen.filter((wasSeen) => wasSeen).length).toBeLessThan(150)
  expect(comes(quiet, 0, 10)).toBe(true)
})

test('if one endpoint alone has been served for a second, more of its work is done in a round, until another one has work', async () => {
  const [lone, other] = [createAllowance(), createAllowance()]
  const inOneRound = async () => {
    await nextRound()
    return Array.from({ length: 30 }, () => comes(lone, 0.6)).filter((wasSeen) => wasSeen).length
  }
  while ((await inOneRound()) <= 4);
  expect(comes(other, 0.1)).toBe(true)
  await nextRound()
  expect(await inOneRound()).toBeLessThanOrEqual(4)
})

test('postponed work is done in its order, in short rounds, and later work waits behind it', async () => {
  const allowance = createAllowance()
  const done: number[] = []
  let rounds = 0
  for (let n = 0; n < 20; n += 1)
    inTurn(allowance, 'takes requests again of', whom, () => {
      work(0.6)
      done.push(n)
    })
  for (; done.length < 20; rounds += 1) {
    const before = done.length
    expect(comes(allowance, 0.1)).toBe(false)
    await nextRound()
    expect(done.length - before).toBeLessThanOrEqual(2)
  }
  expect(done).toEqual(Array.from({ length: 20 }, (_, n) => n))
  expect(rounds).toBeGreaterThanOrEqual(10)
  expect(comes(allowance, 0.1)).toBe(true)
})

test('endpoints have their turn one after the other, however much waits for each', async () => {
  const [loud, other] = [createAllowance(), createAllowance()]
  const done: string[] = []
  for (let n = 0; n < 30; n += 1)
    inTurn(loud, 'takes requests again of', whom, () => {
      work(0.6)
      done.push('loud')
    })
  inTurn(other, 'takes requests again of', whom, () => done.push('other'))
  while (!done.includes('other')) await nextRound()
  expect(done.indexOf('other')).toBeLessThanOrEqual(1)
  while (done.length < 31) await nextRound()
})

test('a client has had its turn after half a millisecond', () => {
  for (const bytes of [10, LONG]) {
    beginTurn(createAllowance(), 'takes requests of', whom, bytes)
    expect(isTurnOver()).toBe(false)
    work(0.3)
    expect(isTurnOver()).toBe(false)
    work(0.2)
    expect(isTurnOver()).toBe(true)
    endTurn(createAllowance())
  }
})
