import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as round } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../../../../../proof/until.ts'
import { createHandshakeQueue } from '../../../src/process/handshake-queue.ts'

/** Connections by name: the first letter is their source. */
function makeQueue(limits: Parameters<typeof createHandshakeQueue>[0]) {
  const begun: string[] = []
  const sockets = new Map<string, Socket>()
  const queue = createHandshakeQueue(limits)
  const socketOf = (name: string) => {
    const known = sockets.get(name)
    if (known !== undefined) return known
    const emitter = Object.assign(new EventEmitter(), {
      destroyed: false,
      destroy() {
        emitter.destroyed = true
        emitter.emit('close')
      },
    })
    const socket = emitter as unknown as Socket
    sockets.set(name, socket)
    return socket
  }
  return {
    begun,
    socketOf,
    add(...some: readonly string[]) {
      for (const name of some) queue.add(socketOf(name), name[0] ?? '', () => begun.push(name))
    },
    end: (name: string) => queue.end(socketOf(name)),
  }
}

async function rounds(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await round()
}

test('one handshake begins in a round; sources take turns, and of one the newest and the oldest go first', async () => {
  const queue = makeQueue({ holdMs: 3_600_000 })
  queue.add('a1', 'a2', 'a3', 'a4', 'b1', 'b2')
  expect(queue.begun).toEqual([])
  await round()
  const afterOne = queue.begun.length
  await rounds(10)
  expect(queue.begun).toEqual(['a4', 'b2', 'a1', 'b1', 'a3', 'a2'])
  expect(afterOne).toBeLessThanOrEqual(1)
})

test('no more are under way than may be, and the next begins when one ends or breaks off', async () => {
  const queue = makeQueue({ atOnce: 2, holdMs: 3_600_000 })
  queue.add('a1', 'a2', 'a3', 'a4', 'a5')
  await rounds(10)
  expect(queue.begun).toEqual(['a5', 'a1'])
  queue.end('a5')
  await rounds(3)
  expect(queue.begun).toEqual(['a5', 'a1', 'a4'])
  // One that waits, and one that is under way.
  queue.socketOf('a2').destroy()
  queue.socketOf('a1').destroy()
  await rounds(3)
  expect(queue.begun).toEqual(['a5', 'a1', 'a4', 'a3'])
})

test('a client that has begun many, and finishes one after the other in their order, finishes all', async () => {
  const queue = makeQueue({ atOnce: 4, holdMs: 3_600_000 })
  const names = Array.from({ length: 500 }, (_, n) => `a${n}`)
  queue.add(...names)
  for (const name of names) {
    await rounds(3)
    expect(queue.begun).toContain(name)
    queue.end(name)
  }
  expect(queue.begun.toSorted()).toEqual(names.toSorted())
})

test('one that takes too long gives its place to another that waits, and may end later', async () => {
  const queue = makeQueue({ atOnce: 1, holdMs: 1, mostLate: 2 })
  queue.add('a1', 'a2', 'a3')
  await until('all have begun', () => queue.begun.length === 3)
  queue.end('a3')
  queue.add('a4')
  await until('it has begun', () => queue.begun.length === 4)
  expect(['a1', 'a2', 'a3', 'a4'].filter((name) => queue.socketOf(name).destroyed)).toEqual([])
})

test('of those that took too long the oldest is closed when there are too many, and not before another waits', async () => {
  const queue = makeQueue({ atOnce: 2, holdMs: 1, mostLate: 0 })
  queue.add('a1', 'a2')
  await until('both have begun', () => queue.begun.length === 2)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([queue.socketOf('a1').destroyed, queue.socketOf('a2').destroyed]).toEqual([false, false])
  queue.add('b1')
  await until('it has its turn', () => queue.begun.includes('b1'))
  expect([queue.socketOf('a2').destroyed, queue.socketOf('a1').destroyed]).toEqual([true, false])
})

test('however many from one source do not end theirs, others find places', async () => {
  const queue = makeQueue({ atOnce: 4, holdMs: 3_600_000 })
  queue.add('a1', 'a2', 'a3', 'a4', 'a5')
  await rounds(10)
  expect(queue.begun).toEqual(['a5', 'a1', 'a4'])
  for (const name of ['b1', 'b2', 'b3']) {
    queue.add(name)
    await rounds(3)
    queue.end(name)
  }
  expect(queue.begun).toEqual(['a5', 'a1', 'a4', 'b1', 'b2', 'b3'])
})

test('of a source that has all places it may have, the oldest makes room in time, and of another source none', async () => {
  const queue = makeQueue({ atOnce: 4, holdMs: 1, mostLate: 0 })
  queue.add('b1')
  await until('it has begun', () => queue.begun.length === 1)
  queue.add('a1', 'a2', 'a3')
  await until('all have begun', () => queue.begun.length === 4)
  queue.end('a2')
  queue.add('a4', 'a5')
  await until('the last has its turn', () => queue.begun.length === 6)
  expect(['b1', 'a3', 'a1'].map((name) => queue.socketOf(name).destroyed)).toEqual([false, true, false])
})

test('connections that come and go while they wait leave nothing', async () => {
  const queue = makeQueue({ atOnce: 1, holdMs: 3_600_000 })
  queue.add('a0')
  await rounds(3)
  for (let n = 1; n < 1_000; n += 1) {
    queue.add(`a${n}`)
    queue.socketOf(`a${n}`).destroy()
  }
  queue.add('a1000')
  queue.end('a0')
  await rounds(3)
  expect(queue.begun).toEqual(['a0', 'a1000'])
})

test('however many sources without a login do not end theirs, one from which a user has signed in finds a place, and the other way round', async () => {
  const queue = makeQueue({
    atOnce: 6,
    holdMs: 3_600_000,
    isKnown: (source) => source === source.toUpperCase(),
  })
  queue.add(...[...'abcdefghij'].map((source) => `${source}1`))
  await rounds(20)
  queue.add('A1', 'A2')
  await rounds(3)
  expect(queue.begun).toEqual(['a1', 'b1', 'c1', 'd1', 'e1', 'A2'])
  for (const name of queue.begun.slice()) queue.end(name)
  await rounds(3)
  expect(queue.begun.slice(6).sort()).toEqual(['A1', 'f1', 'g1'])
})

test('the sources from which a user has signed in leave a place to the others', async () => {
  const queue = makeQueue({ atOnce: 6, holdMs: 3_600_000, isKnown: (source) => source !== 'z' })
  queue.add(...[...'abcdefghij'].map((source) => `${source}1`))
  await rounds(20)
  expect(queue.begun).toHaveLength(5)
  queue.add('z1')
  await rounds(3)
  expect(queue.begun).toContain('z1')
})
