import { expect, test } from 'vitest'
import { createExpiringCache } from './expiring-cache.ts'

function setUp() {
  let clock = 0
  let reads = 0
  const memory = createExpiringCache<string, string>({ forMs: 1_000, most: 2, now: () => clock })
  const get = (key: string) =>
    memory.get(key, async () => {
      reads += 1
      return `${key} ${reads}`
    })
  const pass = (ms: number) => {
    clock += ms
  }
  return { memory, get, pass }
}

test('an answer is remembered for its time, and recalled at once as soon as it is there', async () => {
  const { memory, get, pass } = setUp()
  const first = get('a')
  expect(memory.recall('a')).toBeUndefined()
  expect([await first, await get('a'), memory.recall('a')]).toEqual(['a 1', 'a 1', 'a 1'])
  pass(999)
  expect(memory.recall('a')).toBe('a 1')
  pass(1)
  expect([memory.recall('a'), await get('a')]).toEqual([undefined, 'a 2'])
})

test('a forgotten answer is asked for again, also if it had not arrived yet', async () => {
  const { memory, get } = setUp()
  const early = get('a')
  memory.forget('a')
  expect([await early, memory.recall('a'), await get('a')]).toEqual(['a 1', undefined, 'a 2'])
})

test('the oldest goes first, and a failure is not remembered', async () => {
  const { memory, get } = setUp()
  for (const key of ['a', 'b', 'c']) await get(key)
  expect([memory.recall('a'), memory.recall('b'), memory.recall('c')]).toEqual([undefined, 'b 2', 'c 3'])
  await expect(memory.get('d', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await get('d')).toBe('d 4')
})
