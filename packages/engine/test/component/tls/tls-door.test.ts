import { Socket } from 'node:net'
import { Server } from 'node:tls'
import { expect, test } from 'vitest'
import { until } from '../../../../../proof/until.ts'
import { createTlsDoor } from '../../../src/tls/tls-door.ts'
import { createTlsGuard } from '../../../src/tls/tls-guard.ts'

const CROWD = 16

/** A door whose handshakes do not go on. `reader` is what reads a client: undefined while it waits. */
function makeDoor() {
  const begun: unknown[] = []
  const server = new Server().removeAllListeners('connection').on('connection', (raw) => begun.push(raw))
  const door = createTlsDoor(server, createTlsGuard())
  const come = (source: string) => {
    const raw = new Socket()
    const before = begun.length
    const nothing = () => undefined
    door.begin(raw, { source, cut: nothing, secured: nothing, failed: nothing })
    const reader = () => {
      const stream = begun[before]
      return stream === undefined ? undefined : stream === raw ? 'Node' : 'record by record'
    }
    return { raw, reader }
  }
  const crowd = (source: string) => Array.from({ length: CROWD }, () => come(source))
  return { door, come, crowd }
}

test('clients that stay without a login keep one other waiting for a moment, and not each', async () => {
  const { come, crowd } = makeDoor()
  expect(crowd('a').map(({ reader }) => reader())).toEqual(Array(CROWD).fill('Node'))
  const first = come('b')
  expect(first.reader()).toBeUndefined()
  await until('it has waited in vain', () => first.reader() === 'record by record')
  expect([come('b'), come('c'), come('a')].map(({ reader }) => reader())).toEqual(
    Array(3).fill('record by record'),
  )
})

test('a source from which a user has signed in has room of its own, whatever comes from others', () => {
  const { door, come, crowd } = makeDoor()
  const user = come('home')
  door.know(user.raw)
  user.raw.emit('close')
  crowd('elsewhere')
  expect(come('home').reader()).toBe('Node')
  expect(come('other').reader()).toBeUndefined()
  for (let n = 1; n < CROWD; n += 1) expect(come('home').reader()).toBe('Node')
  expect(come('home').reader()).toBeUndefined()
})

test('clients that are read record by record are in the way of no other', async () => {
  const { come, crowd } = makeDoor()
  const strangers = crowd('a')
  const late = come('a')
  await until('it has waited in vain', () => late.reader() === 'record by record')
  expect(crowd('a').map(({ reader }) => reader())).toEqual(Array(CROWD).fill('record by record'))
  for (const { raw } of strangers) raw.emit('close')
  expect(come('a').reader()).toBe('Node')
})
