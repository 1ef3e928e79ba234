import { expect, test } from 'vitest'
import { createTurns } from './create-turns.ts'

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
  const inTurn = createTurns()
  const [a, b, c] = [work('a', said), work('b', said), work('c', said)]
  const first = inTurn(a.act)
  expect(said).toEqual([])
  const failed = expect(inTurn(b.act)).rejects.toThrow('b')
  const last = inTurn(c.act)
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
  const inTurn = createTurns(2)
  const [a, b, c, d] = [work('a', said), work('b', said), work('c', said), work('d', said)]
  const giveUp = new AbortController()
  const begun = [inTurn(a.act), inTurn(b.act)]
  const given = expect(inTurn(c.act, giveUp.signal)).rejects.toThrow('not wanted any more')
  const next = inTurn(d.act)
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
