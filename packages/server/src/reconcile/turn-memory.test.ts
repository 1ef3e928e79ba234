import { expect, test } from 'vitest'
import { createTurnMemory } from './turn-memory.ts'

test('what is done now and then is done at once the first time, and again when its time is over', () => {
  let now = 5
  const memory = createTurnMemory(() => now)
  expect(memory.isTime('put', 1_000)).toBe(true)
  now = 1_004
  expect(memory.isTime('put', 1_000)).toBe(false)
  now = 1_005
  expect(memory.isTime('put', 1_000)).toBe(true)
})

test('a wall clock that is set back an hour holds up nothing that is done now and then', async () => {
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
