import { expect, test } from 'vitest'
import { createMutex, createSemaphore } from './create-mutex.ts'

/** Work that says when it begins, and ends when it is told to. */
function work(name: string, said: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  return {
    act: () => {
      said.push(name)
      return promise
    },
    end: () => resolve(name),
    fail: () => reject(new Error(name)),
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('work begins when the work before it has ended, however it ended, and not before the caller goes on', async () => {
  const said: string[] = []
  const runExclusive = createMutex()
  const [a, b, c] = [work('a', said), work('b', said), work('c', said)]
  const first = runExclusive(a.act)
  expect(said).toEqual([])
  const failed = expect(runExclusive(b.act)).rejects.toThrow('b')
  const last = runExclusive(c.act)
  await settled()
  expect(said).toEqual(['a'])
  a.end()
  expect(await first).toBe('a')
  await settled()
  expect(said).toEqual(['a', 'b'])
  b.fail()
  await failed
  await settled()
  expect(said).toEqual(['a', 'b', 'c'])
  c.end()
  expect(await last).toBe('c')
})

test('as many as are allowed are done at a time, and what was given up meanwhile is not begun', async () => {
  const said: string[] = []
  const runExclusive = createSemaphore(2)
  const [a, b, c, d] = [work('a', said), work('b', said), work('c', said), work('d', said)]
  const giveUp = new AbortController()
  const begun = [runExclusive(a.act), runExclusive(b.act)]
  const given = expect(runExclusive(c.act, giveUp.signal)).rejects.toThrow('not wanted any more')
  const next = runExclusive(d.act)
  giveUp.abort(new Error('not wanted any more'))
  await settled()
  expect(said).toEqual(['a', 'b'])
  a.end()
  await given
  await settled()
  expect(said).toEqual(['a', 'b', 'd'])
  for (const each of [b, d]) each.end()
  expect(await Promise.all([...begun, next])).toEqual(['a', 'b', 'd'])
})
