import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startLoop } from './loop.ts'

const log = pino({ level: 'silent' })
const untrouble = async () => undefined

/** Resolves when `check` holds; turns are made of promises and timers of a few ms. */
async function until(check: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000
  while (!check()) {
    if (performance.now() > deadline) throw new Error('not within 5 s')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('a database has one turn at a time, and a nudge in the middle of it brings another right after', async () => {
  let running = 0
  let turns = 0
  await using loop = startLoop({
    log,
    trouble: untrouble,
    turn: async () => {
      running += 1
      turns += 1
      expect(running).toBe(1)
      if (turns === 1) loop.nudge(1)
      await new Promise((resolve) => setTimeout(resolve, 10))
      running -= 1
      return { next: 'watch' }
    },
  })
  loop.nudge(1)
  await until(() => turns === 2)
})

test('trouble is tried again, later each time, and told each time', async () => {
  const troubles: number[] = []
  const at: number[] = []
  await using loop = startLoop({
    log,
    trouble: async (_, __, timesInARow) => void troubles.push(timesInARow),
    turn: async () => {
      at.push(performance.now())
      if (at.length < 4) throw new Error('the world')
      return { next: 'gone' }
    },
  })
  loop.nudge(1)
  await until(() => at.length === 4)
  const pauses = at.slice(1).map((time, n) => time - (at[n] ?? 0))
  expect(troubles).toEqual([1, 2, 3])
  expect(pauses.toSorted((a, b) => a - b)).toEqual(pauses)
})

test('no more than eight databases have their turn at once, and every one gets its turn', async () => {
  let running = 0
  let most = 0
  const seen = new Set<number>()
  await using loop = startLoop({
    log,
    trouble: untrouble,
    turn: async (uid) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running -= 1
      seen.add(uid)
      return { next: 'gone' }
    },
  })
  for (let uid = 1; uid <= 30; uid++) loop.nudge(uid)
  await until(() => seen.size === 30)
  expect(most).toBe(8)
})

test('disposing of it waits for the turn in hand and begins no other', async () => {
  let ended = 0
  let begun = 0
  const loop = startLoop({
    log,
    trouble: untrouble,
    turn: async (_, signal) => {
      begun += 1
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended += 1
      return { next: 'again', afterMs: 0 }
    },
  })
  loop.nudge(1)
  await until(() => begun === 1)
  await loop[Symbol.asyncDispose]()
  expect([begun, ended]).toEqual([1, 1])
})
