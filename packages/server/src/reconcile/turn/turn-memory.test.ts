import { expect, test } from 'vitest'
import { type Cause, createTurnMemory, forOneTurn } from './turn-memory.ts'

test('periodic work is done at once the first time, and again when its interval is over', () => {
  let now = 5
  const memory = createTurnMemory(() => now)
  expect(memory.isTime('put', 1_000)).toBe(true)
  now = 1_004
  expect(memory.isTime('put', 1_000)).toBe(false)
  now = 1_005
  expect(memory.isTime('put', 1_000)).toBe(true)
})

test('a turn knows how soon something is due that it has put off, or could not do', () => {
  let now = 0
  const memory = createTurnMemory(() => now)
  const first = forOneTurn(memory, 1, 'change')
  expect(first.isTime('put', 10_000)).toBe(true)
  expect(first.endOfTurn()).toBe(Number.POSITIVE_INFINITY)
  now = 4_000
  const second = forOneTurn(memory, 1, 'change')
  expect([second.isTime('put', 10_000), second.isTime('look', 60_000)]).toEqual([false, true])
  expect(second.endOfTurn()).toBe(6_000)
  second.again('look')
  expect(second.endOfTurn()).toBe(1_000)
  expect(memory.isTime('look', 60_000)).toBe(true)
  memory.allAgain('pu')
  expect([memory.isTime('put', 10_000), memory.isTime('look', 60_000)]).toEqual([true, false])
})

test('postponed work is done when it is due, and then the database is idle: two kinds of upkeep do not cause endless turns for each other', () => {
  let now = 0
  const memory = createTurnMemory(() => now)
  const done: string[] = []
  const turn = (cause: Cause) => {
    const ofTurn = forOneTurn(memory, 7, cause)
    for (const [what, everyMs] of Object.entries({ certificate: 10_000, reach: 30_000, settings: 30_000 }))
      if (ofTurn.isTime(what, everyMs)) done.push(`${what} ${now}`)
    return ofTurn.endOfTurn()
  }
  memory.isTime('reach', 30_000)
  now = 1_000
  memory.isTime('settings', 30_000)
  now = 2_000
  let dueMs = turn('change')
  const turns = [now]
  while (turns.length < 10 && Number.isFinite(dueMs)) {
    now += dueMs
    turns.push(now)
    dueMs = turn('time')
  }
  expect(turns).toEqual([2_000, 30_000, 31_000])
  expect(done).toEqual(['certificate 2000', 'certificate 30000', 'reach 30000', 'settings 31000'])

  now = 35_000
  expect(turn('change')).toBe(5_000)
  expect(turn('time')).toBe(5_000)
})

test('a wall clock that is set back an hour delays no periodic work', async () => {
  const memory = createTurnMemory()
  const real = Date.now
  try {
    expect(memory.isTime('put', 1)).toBe(true)
    Date.now = () => real() - 3_600_000
    await expect.poll(() => memory.isTime('put', 1)).toBe(true)
  } finally {
    Date.now = real
  }
})

test('the wait for a shard is counted while it makes no progress, and starts again at 0 when it does', () => {
  let now = 0
  const memory = createTurnMemory(() => now)
  const wait = (shard: number, progress?: number) => ({
    kind: 'wait' as const,
    shard,
    code: 'replication' as const,
    why: '',
    ...(progress !== undefined && { progress }),
  })
  expect(memory.waitedMs(1, 0, wait(3))).toBe(0)
  now = 4_000
  expect(memory.waitedMs(1, 0, wait(3))).toBe(4_000)
  now = 8_000
  expect(memory.waitedMs(1, 0, wait(3))).toBe(8_000)
  expect(memory.waitedMs(1, 0, wait(3, 100))).toBe(0)
  now = 12_000
  expect(memory.waitedMs(1, 0, wait(3, 100))).toBe(4_000)
  expect(memory.waitedMs(1, 0, wait(3, 101))).toBe(0)
  expect(memory.waitedMs(1, 0, wait(4, 101))).toBe(0)
})

const meet = (shard: number, missing?: number) => ({
  kind: 'do' as const,
  step: {
    kind: 'meet' as const,
    greetings: [{ by: 1, to: 2 }],
    shard,
    why: '',
    ...(missing !== undefined && { missing }),
  },
})
const arriving = (shard: number, progress: number) => ({
  kind: 'wait' as const,
  shard,
  code: 'cluster_view' as const,
  why: '',
  progress,
})

test('a greeting and the wait for its arrival are one wait, until one more of the introductions has arrived', () => {
  let now = 0
  const memory = createTurnMemory(() => now)
  memory.waitedMs(1, 0, meet(3, 2))
  for (now = 1_000; now < 60_000; now += 1_000)
    memory.waitedMs(1, 0, now % 5_000 === 0 ? meet(3, 2) : arriving(3, 2))
  expect(memory.waitedMs(1, 0, meet(3, 2))).toBe(60_000)
  expect(memory.waitedMs(1, 0, meet(3, 1))).toBe(0)
})

test('two introductions of one group that are waited for by turns are both counted, and no other wait between', () => {
  let now = 0
  const memory = createTurnMemory(() => now)
  for (; now < 60_000; now += 1_000) memory.waitedMs(1, 0, now % 5_000 === 0 ? meet(5) : arriving(3, 2))
  expect(memory.waitedMs(1, 0, meet(5))).toBe(60_000)
  expect(memory.waitedMs(1, 0, arriving(3, 2))).toBe(59_000)
  memory.waitedMs(1, 0, { kind: 'wait', shard: 3, code: 'loading', why: '' })
  expect(memory.waitedMs(1, 0, meet(5))).toBe(0)
})

test('a step that is tried again and again is waited for, whatever its reason says; another step, the same for another shard, or one that lets other groups go first, begins anew', () => {
  let now = 0
  const memory = createTurnMemory(() => now)
  const handOver = (to: number, why: string) => ({
    kind: 'do' as const,
    step: { kind: 'hand-over' as const, from: 1, to, why },
  })
  memory.waitedMs(1, 0, handOver(3, 'at offset 1'))
  now = 4_000
  expect(memory.waitedMs(1, 0, handOver(3, 'at offset 2'))).toBe(4_000)
  expect(memory.waitedMs(1, 1, handOver(3, 'at offset 2'))).toBe(0)
  expect(memory.waitedMs(1, 0, handOver(4, 'at offset 2'))).toBe(0)
  now = 8_000
  expect(memory.waitedMs(1, 0, handOver(4, 'at offset 2'))).toBe(4_000)
  memory.held(1, 0, { code: 'replication', why: 'the stream does not flow yet' })
  expect(memory.waitedMs(1, 0, handOver(4, 'at offset 2'))).toBe(4_000)
  memory.held(1, 0, { code: 'other_groups', why: 'other groups hand over first' })
  expect(memory.waitedMs(1, 0, handOver(4, 'at offset 2'))).toBe(0)
  now = 12_000
  expect(memory.waitedMs(1, 0, { kind: 'done' })).toBe(0)
  expect(memory.waitedMs(1, 0, handOver(4, 'at offset 2'))).toBe(0)
})

test('a server that stalled has not waited meanwhile: nothing is given up at its first look', () => {
  let now = 0
  const memory = createTurnMemory(() => now)
  const wait = { kind: 'wait' as const, shard: 3, code: 'shard_silent' as const, why: '' }
  memory.waitedMs(1, 0, wait)
  now = 60_000
  expect(memory.waitedMs(1, 0, wait)).toBeLessThan(30_000)
})
