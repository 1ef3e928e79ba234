import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nextId } from '../../../packages/server/src/store/next-id.ts'
import { openStore } from '../../../packages/server/src/store/open-store.ts'
import { createSecretBox } from '../../../packages/server/src/store/secret-box.ts'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())
const key = randomBytes(32)
const open = async (address: Awaited<ReturnType<TestPostgres['makeDatabase']>>) =>
  openStore({ address, passwordFile: null }, () => createSecretBox(key))

test('transactions of several servers come one after the other', async () => {
  const place = await postgres.makeDatabase()
  await using store = await open(place)
  await using other = await open(place)
  const numbers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      (n % 2 === 0 ? store : other).transaction((db) => nextId(db, 'shard')),
    ),
  )
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
})

test('PostgreSQL dies three times while transactions run: each is done once', async () => {
  const place = await postgres.makeDatabase()
  await using store = await open(place)
  const got: number[] = []
  let goes = true
  const writers = Array.from({ length: 8 }, async () => {
    while (goes) got.push(await store.transaction((db) => nextId(db, 'shard')))
  })
  for (let n = 0; n < 3; n += 1) {
    const before = got.length
    await expect.poll(() => got.length).toBeGreaterThan(before + 20)
    await postgres.stop('immediate')
    await postgres.start()
  }
  goes = false
  await Promise.all(writers)
  expect(new Set(got).size).toBe(got.length)
  expect(await nextId(store.db, 'shard')).toBe(got.length + 1)
})
