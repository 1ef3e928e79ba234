import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { Endpoint } from '../../../src/endpoint/endpoint.ts'
import { createClock } from '../../pass-time.ts'
import { keyOf, makeCluster } from '../../sharded-stage.ts'
import { dial, type Engine, makePair, until } from '../../stage.ts'
import { beginLongValue } from '../../stream-value.ts'

afterEach(() => vi.restoreAllMocks())

const host = '127.0.0.1'
/** Longer than what follows whole. */
const LONG = 16 * 1024 * 1024
/** So many, with 50 s between them: more than five minutes. */
const ENOUGH = 8
const times = { deadlineMs: 60_000, drainMs: 150 }

/** Attempts to hold its clients for more than five minutes, none of which goes on to a hold. */
async function putOffForMinutes(
  endpoint: Endpoint,
  pass: (ms: number) => void,
  { slot, inTheWayAtFirst = 0 }: { readonly slot?: number; readonly inTheWayAtFirst?: number } = {},
) {
  for (let n = 0; n < ENOUGH; n += 1) {
    pass(50_000)
    const long = n === 0 ? inTheWayAtFirst : 0
    expect(await endpoint.calm(200, slot)).toEqual({ long, tries: long, cut: 0 })
  }
}

/** Bytes of a request that has not ended, as the engine has them. */
async function hasBegun({ admin }: Engine): Promise<boolean> {
  return /qbuf=\d{5}/.test(await admin('CLIENT LIST'))
}

test('after five minutes of attempts a long request that begins waits for the handover, and then goes to the new primary; short ones go on', async () => {
  await using pair = await makePair()
  const { endpoint } = pair
  await putOffForMinutes(endpoint, createClock())
  await using late = await beginLongValue(pair.port, 'late', LONG)
  await late.sendUpTo(200_000)
  await using other = await dial(pair.port)
  await other.ask('SET k v', '+OK\r\n')
  expect(await hasBegun(pair.a)).toBe(false)
  expect(await endpoint.hold(times)).toMatchObject({ drained: true, late: 0 })
  await pair.moveRole()
  await endpoint.switchTo({ host, port: pair.b.port })
  await late.sendUpTo(LONG)
  await late.isSet()
  expect(await pair.b.admin('STRLEN late')).toBe(`:${LONG}\r\n`)
  expect(endpoint.report()).toMatchObject({ errors: 0 })
})

test('a hold that did not move the role does not begin the five minutes again', async () => {
  await using pair = await makePair()
  const { endpoint } = pair
  const pass = createClock()
  for (let n = 0; n < ENOUGH; n += 1) {
    pass(50_000)
    if (n % 3 === 2) {
      expect(await endpoint.hold(times)).toMatchObject({ drained: true })
      endpoint.release()
    } else {
      await using value = await beginLongValue(pair.port, 'k', LONG)
      await value.sendUpTo(200_000)
      await until(() => hasBegun(pair.a))
      expect(await endpoint.calm(200)).toMatchObject({ long: 1 })
      await value.sendUpTo(LONG)
      await value.isSet()
    }
  }
  await endpoint.calm(200)
  await using late = await beginLongValue(pair.port, 'late', LONG)
  await late.sendUpTo(200_000)
  await using other = await dial(pair.port)
  await other.ask('SET k v', '+OK\r\n')
  expect(await hasBegun(pair.a)).toBe(false)
})

test('a long request under way is closed a minute later if it has not ended, also if its client sends nothing', async () => {
  await using pair = await makePair()
  const { endpoint } = pair
  const pass = createClock()
  await using value = await beginLongValue(pair.port, 'k', LONG)
  await value.sendUpTo(200_000)
  await until(() => hasBegun(pair.a))
  // Its client sends nothing: after the first attempt no handover waits for it.
  await putOffForMinutes(endpoint, pass, { inTheWayAtFirst: 1 })
  pass(31_000)
  expect(await endpoint.hold(times)).toMatchObject({ drained: true, cut: 1 })
  endpoint.release()
  await expect(value.isSet()).rejects.toThrow(/ERR an upgrade has waited 5 minutes for requests like this/)
})

test('while attempts fail in another thread, a thread without long requests lets none begin either', async () => {
  await using pair = await makePair()
  const { endpoint } = pair
  const pass = createClock()
  await putOffForMinutes(endpoint, pass)
  await using value = await beginLongValue(pair.port, 'k', LONG)
  await value.sendUpTo(200_000)
  await using other = await dial(pair.port)
  await other.ask('SET k v', '+OK\r\n')
  await delay(50)
  expect(await hasBegun(pair.a)).toBe(false)
  expect(await endpoint.hold({ ...times, calmMs: 0 })).toMatchObject({ drained: true })
  endpoint.release()
  await until(() => hasBegun(pair.a))
  await value.sendUpTo(LONG)
  await value.isSet()
})

test('in a sharded database only long requests to the group of the handover wait', async () => {
  await using cluster = await makeCluster()
  const { endpoint, port } = cluster
  const [zero, one] = keyOf
  const pass = createClock()
  await putOffForMinutes(endpoint, pass, { slot: 0 })
  await using waits = await beginLongValue(port, zero, LONG)
  await waits.sendUpTo(200_000)
  await using goes = await beginLongValue(port, one, LONG)
  await goes.sendUpTo(LONG)
  await goes.isSet()
  const [first] = cluster.primaries
  if (first === undefined) throw new Error('no engines')
  expect(await hasBegun(first)).toBe(false)
  expect(await endpoint.hold({ ...times, slot: 0 })).toMatchObject({ drained: true, late: 0 })
  endpoint.release(0)
  await waits.sendUpTo(LONG)
  await waits.isSet()
})
