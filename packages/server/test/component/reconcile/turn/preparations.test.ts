import { expect, test } from 'vitest'
import { createPreparations, type Prepared } from '../../../../src/reconcile/turn/preparations.ts'
import { realTime } from '../../../../src/reconcile/turn/time.ts'

// What is ready counts for a second: not on a machine that stands still in between.
const standing = { ...realTime, elapsed: () => 0 }
const of = (what: string, databaseUid = 1) => ({ what, databaseUid })
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a preparation goes on while no caller waits for it, and stays ready until it is used', async () => {
  await using preparations = createPreparations(standing)
  const work = Promise.withResolvers<Prepared>()
  let begun = 0
  const ask = () =>
    preparations.ask(of('a'), () => {
      begun += 1
      return work.promise
    })
  expect(ask()).toEqual({
    kind: 'pending',
    code: 'preparing',
    why: 'the handover is being prepared',
  })
  expect(ask()).toEqual({
    kind: 'pending',
    code: 'preparing',
    why: 'the handover is being prepared',
  })
  work.resolve('ready')
  await settled()
  expect([ask(), ask(), begun]).toEqual(['ready', 'ready', 1])
  preparations.end('a')
  expect(ask()).toMatchObject({ kind: 'pending' })
  expect(begun).toBe(2)
})

test('what was ready a second ago is not ready any more', async () => {
  let now = 0
  await using preparations = createPreparations({ ...realTime, elapsed: () => now })
  const ask = () => preparations.ask(of('a'), async () => 'ready')
  ask()
  await settled()
  now = 1_000
  expect(ask()).toBe('ready')
  now = 1_001
  expect(ask()).toMatchObject({ kind: 'pending' })
})

test('an obstacle is reported once, and then the preparation starts again', async () => {
  await using preparations = createPreparations(standing)
  const answers: Prepared[] = [
    { kind: 'hopeless', code: 'users', why: 'user app cannot be carried' },
    'ready',
  ]
  const ask = () => preparations.ask(of('a'), async () => answers.shift() ?? 'ready')
  ask()
  await settled()
  expect(ask()).toEqual({ kind: 'hopeless', code: 'users', why: 'user app cannot be carried' })
  expect(ask()).toMatchObject({ kind: 'pending' })
  await settled()
  expect(ask()).toBe('ready')
})

test('trouble is thrown once, to the next caller', async () => {
  await using preparations = createPreparations(standing)
  const ask = () => preparations.ask(of('a'), () => Promise.reject(new Error('no answer')))
  ask()
  await settled()
  expect(ask).toThrow('no answer')
  expect(ask()).toMatchObject({ kind: 'pending' })
})

test('four of one database run at once, and those of other databases are not held up by it', async () => {
  await using preparations = createPreparations(standing)
  const begun: string[] = []
  const ask = (what: string, databaseUid?: number) =>
    preparations.ask(of(what, databaseUid), async () => {
      begun.push(what)
      return 'ready'
    })
  for (const what of ['a', 'b', 'c', 'd', 'e']) ask(what)
  expect(ask('e')).toEqual({
    kind: 'pending',
    code: 'other_groups',
    why: 'other groups hand over first',
  })
  ask('f', 2)
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'f'])
  await settled()
  preparations.end('a')
  ask('e')
  expect(begun).toContain('e')
})

test('a caller that waits for one is told when any has ended, or when it takes too long', async () => {
  await using preparations = createPreparations(standing)
  const work = Promise.withResolvers<Prepared>()
  const ask = () => preparations.ask(of('a'), () => work.promise)
  ask()
  const told = preparations.change(60_000)
  work.resolve('ready')
  await told
  expect(ask()).toBe('ready')
  const next = preparations.change(60_000)
  preparations.end('a')
  await next
  await preparations.change(1)
})

test('ending them aborts those that run, and waits for them', async () => {
  const preparations = createPreparations(standing)
  let told = false
  preparations.ask(of('a'), async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    told = true
    throw signal.reason
  })
  await preparations[Symbol.asyncDispose]()
  expect(told).toBe(true)
})
