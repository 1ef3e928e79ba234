import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { AT_ONCE, startLoop } from '../../../../src/reconcile/loop/loop.ts'
import { pauseOfWait } from '../../../../src/reconcile/loop/pause-of-wait.ts'
import type { Turn } from '../../../../src/reconcile/loop/reconcile-database.ts'

const log = pino({ level: 'silent' })
const untrouble = async () => undefined

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
      return { next: 'watch', dueMs: Number.POSITIVE_INFINITY }
    },
  })
  loop.nudge(1)
  await until('the turns come', () => turns === 2, { everyMs: 1 })
})

test.each([0, 10])(
  'a nudge in a turn that finds the database gone is not lost: this server has taken the database over since (%s ms)',
  async (ms) => {
    let turns = 0
    await using loop = startLoop({
      log,
      trouble: untrouble,
      turn: async () => {
        turns += 1
        if (turns > 1) return { next: 'watch', dueMs: Number.POSITIVE_INFINITY }
        loop.nudge(1)
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
        return { next: 'gone' }
      },
    })
    loop.nudge(1)
    await until('the turns come', () => turns === 2, { everyMs: 1 })
  },
)

// invariant: A handover waits for no other database.
test('a change that is heard right before a handover does not make it wait for a place', async () => {
  const stop = new AbortController()
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()))
  let handovers = 0
  let others = 0
  await using loop = startLoop({
    log,
    trouble: untrouble,
    turn: async (uid): Promise<Turn> => {
      if (uid === 1) handovers += 1
      if (uid === 1 && handovers === 1) return { next: 'again', afterMs: 60_000, handsOver: true }
      if (uid === 1) return { next: 'gone' }
      others += 1
      await stopped
      return { next: 'gone' }
    },
  })
  using _ = { [Symbol.dispose]: () => stop.abort() }
  loop.nudge(1)
  await until('it is to hand over', () => handovers === 1, { everyMs: 1 })
  for (let other = 2; other < 2 * AT_ONCE; other += 1) loop.nudge(other)
  await until('the others take all places of theirs', () => others === 28, { everyMs: 1 })
  loop.nudge(1)
  await until('it has its turn', () => handovers === 2, { everyMs: 1 })
})

test('a wait is checked often at first, then at longer intervals: its end is noticed late by a fifth of the wait at most', () => {
  const looks = [0]
  for (let at = 0; at < 5_000; looks.push(at)) at += pauseOfWait(at)
  expect(looks.slice(0, 6)).toEqual([0, 15, 30, 45, 60, 75])
  for (const [n, at] of looks.slice(1).entries()) {
    const before = looks[n] ?? 0
    expect(at - before).toBeLessThanOrEqual(Math.max(15, before / 5) + 0.001)
    expect(at - before).toBeLessThanOrEqual(250)
  }
  expect(looks.length).toBeLessThan(40)
  expect(pauseOfWait(0, true)).toBe(250)
})

test('a failed turn is repeated after a longer pause each time, and reported each time', async () => {
  const troubles: number[] = []
  let turns = 0
  const timers = vi.spyOn(globalThis, 'setTimeout')
  await using loop = startLoop({
    log,
    trouble: async (_, __, timesInARow) => void troubles.push(timesInARow),
    turn: async () => {
      turns += 1
      if (turns < 4) throw new Error('the world')
      return { next: 'gone' }
    },
  })
  loop.nudge(1)
  await until('the turns come', () => turns === 4, { everyMs: 1 })
  expect(troubles).toEqual([1, 2, 3])
  const pauses = timers.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms > 1)
  expect(pauses).toHaveLength(3)
  expect(pauses).toEqual([...new Set(pauses)].toSorted((a, b) => a - b))
  timers.mockRestore()
})

/** Turns that end when they are told to; `begun` has those that were begun, in order. */
function heldTurns() {
  const begun: number[] = []
  const ends = new Map<number, (turn: Turn) => void>()
  return {
    begun,
    turn: (uid: number) => {
      begun.push(uid)
      return new Promise<Turn>((resolve) => ends.set(uid, resolve))
    },
    end: (uid: number, turn: Turn = { next: 'gone' }) => ends.get(uid)?.(turn),
    endAll: () => {
      for (const end of ends.values()) end({ next: 'gone' })
    },
  }
}

test('if all places are taken, a handover goes on at once, work has precedence over routine looks, and every database gets its turn', async () => {
  const held = heldTurns()
  await using loop = startLoop({ log, trouble: untrouble, turn: held.turn })
  await using _ended = { [Symbol.asyncDispose]: async () => held.endAll() }
  for (let uid = 1; uid <= 40; uid++) loop.nudge(uid, 'watch')
  await until('those that watch have their part', () => held.begun.length === 24, { everyMs: 1 })
  for (let uid = 101; uid <= 140; uid++) loop.nudge(uid)
  await until('the rest is for work', () => held.begun.length === AT_ONCE, { everyMs: 1 })
  expect(held.begun.slice(24)).toEqual(Array.from({ length: AT_ONCE - 24 }, (_, n) => 101 + n))

  held.end(101, { next: 'again', afterMs: 0, handsOver: true })
  await until(
    'the handover has its next turn beside them',
    () => held.begun.filter((uid) => uid === 101).length === 2,
  )
  // A database of the safety net waits for longer than this one, which has work to do by now.
  loop.nudge(40)
  held.end(1)
  await until('a place is filled', () => held.begun.length >= AT_ONCE + 2)
  expect(held.begun.slice(AT_ONCE).some((uid) => uid > 24 && uid < 40)).toBe(false)

  const ending = setInterval(held.endAll, 1)
  await using _stopped = { [Symbol.asyncDispose]: async () => clearInterval(ending) }
  await until('every one had its turn', () => new Set(held.begun).size === 80, { everyMs: 1 })
})

test('an idle database has its next turn when postponed work is due, otherwise after 50 s', async () => {
  vi.useFakeTimers()
  try {
    const at: number[] = []
    const dueMs = [1_000, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    await using _ = startedAt(1, {
      log,
      trouble: untrouble,
      turn: async () => {
        at.push(Date.now())
        return { next: 'watch', dueMs: dueMs[at.length - 1] ?? Number.POSITIVE_INFINITY }
      },
    })
    await vi.advanceTimersByTimeAsync(120_000)
    const pauses = at.slice(1).map((time, n) => time - (at[n] ?? 0))
    expect(pauses.map((ms) => Math.round(ms / 1_000))).toEqual([1, 50, 50])
  } finally {
    vi.useRealTimers()
  }
})

test('a turn knows whether something has happened, or only the time has come', async () => {
  vi.useFakeTimers()
  try {
    const causes: string[] = []
    const turns: Turn[] = [
      { next: 'again', afterMs: 10 },
      { next: 'watch', dueMs: 1_000 },
    ]
    await using loop = startedAt(1, {
      log,
      trouble: untrouble,
      async turn(_uid, _signal, cause) {
        causes.push(cause)
        return turns[causes.length - 1] ?? { next: 'watch', dueMs: Number.POSITIVE_INFINITY }
      },
    })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(causes).toEqual(['change', 'change', 'time', 'time'])
    loop.nudge(1)
    await vi.advanceTimersByTimeAsync(10)
    expect(causes.slice(4)).toEqual(['change'])
  } finally {
    vi.useRealTimers()
  }
})

function startedAt(uid: number, deps: Parameters<typeof startLoop>[0]) {
  const loop = startLoop(deps)
  loop.nudge(uid)
  return loop
}

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
  await until('the turns come', () => begun === 1, { everyMs: 1 })
  await loop[Symbol.asyncDispose]()
  expect([begun, ended]).toEqual([1, 1])
})
