import { expect, test } from 'vitest'
import { nextId } from './next-id.ts'
import { openStore } from './open-store.ts'
import { rememberUnchanged } from './remember-unchanged.ts'

test('an answer is remembered until anything at all is written, also while it is being read', async () => {
  await using store = await openStore(':memory:')
  let reads = 0
  const get = rememberUnchanged(store, async (name: string) => {
    reads += 1
    return `${name} ${reads}`
  })
  expect([await get('a'), await get('a'), await get('b')]).toEqual(['a 1', 'a 1', 'b 2'])
  await nextId(store.db, 'user')
  const early = get('a')
  await nextId(store.db, 'user')
  expect([await early, await get('a'), await get('a')]).toEqual(['a 3', 'a 4', 'a 4'])
})

test('a write that is rolled back does no harm, and a failure is not remembered', async () => {
  await using store = await openStore(':memory:')
  let fails = true
  const get = rememberUnchanged(store, async (_: 'it') => {
    if (fails) throw new Error('away')
    return 'here'
  })
  await expect(get('it')).rejects.toThrow('away')
  fails = false
  expect(await get('it')).toBe('here')
  const failing = store.transaction(async (db) => {
    await nextId(db, 'user')
    throw new Error('half-way')
  })
  await expect(failing).rejects.toThrow('half-way')
  expect(await get('it')).toBe('here')
})

test('a store that others write to is read each time', async () => {
  let reads = 0
  const get = rememberUnchanged({ changes: () => undefined }, async () => (reads += 1))
  expect([await get('it'), await get('it')]).toEqual([1, 2])
})
