import { expect, test } from 'vitest'
import { createFairQueue, type Waiting } from './fair-queue.ts'

/** A queue whose work ends when the test says so, and what became of each piece. */
function open(limits: { atOnce: number; strangersAtOnce: number; waitingEach: number; waiting: number }) {
  const queue = createFairQueue(limits)
  const running: { readonly name: string; readonly end: () => void }[] = []
  const refused: string[] = []
  const ended: string[] = []
  const ask = (source: string, known = false, name = source) => {
    const who: Waiting = { source, known }
    const work = () => new Promise<void>((end) => running.push({ name, end }))
    queue(who, work).then(
      () => ended.push(name),
      () => refused.push(name),
    )
  }
  /** Ends what has run longest, one after the other, until nothing runs. */
  const drain = async () => {
    for (let next = running.shift(); next !== undefined; next = running.shift()) {
      next.end()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { ask, drain, running, refused, ended }
}

const wide = { atOnce: 2, strangersAtOnce: 1, waitingEach: 64, waiting: 256 }

test('a source with one request waits for one turn of each other source, however much those ask for', async () => {
  const { ask, drain, ended } = open(wide)
  for (let n = 0; n < 40; n += 1) ask('flood')
  ask('flood too')
  ask('one')
  await drain()
  expect(ended.length).toBe(42)
  expect(ended.indexOf('one')).toBeLessThan(4)
})

test('strangers leave a place to known sources, which come first; but strangers do not wait endlessly', async () => {
  const { ask, drain, running, ended } = open(wide)
  for (let n = 0; n < 10; n += 1) ask('stranger')
  expect(running.length).toBe(1)
  for (let n = 0; n < 10; n += 1) ask('user', true)
  expect(running.map(({ name }) => name)).toEqual(['stranger', 'user'])
  await drain()
  expect(ended.slice(0, 12).filter((name) => name === 'user').length).toBeGreaterThan(6)
  expect(ended.slice(0, 12).filter((name) => name === 'stranger').length).toBeGreaterThan(1)
  expect(ended.length).toBe(20)
})

test('when all places are taken, the longest line loses one, and each line has a limit', async () => {
  const { ask, drain, refused, ended } = open({ ...wide, waitingEach: 5, waiting: 8 })
  for (let n = 0; n < 10; n += 1) ask('a')
  for (let n = 0; n < 3; n += 1) ask('b')
  ask('c')
  ask('user', true) // runs at once
  await new Promise((resolve) => setImmediate(resolve))
  expect(refused.toSorted()).toEqual(['a', 'a', 'a', 'a', 'a'])
  await drain()
  expect(ended.toSorted()).toEqual(['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'user'])
})

test('work that fails gives its place to the next', async () => {
  const queue = createFairQueue({ atOnce: 1, strangersAtOnce: 1, waitingEach: 2, waiting: 2 })
  const who = { source: 'a', known: false }
  const failing = queue(who, () => Promise.reject(new Error('no')))
  const next = queue(who, async () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})
