import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { proxyFlags, runProxy } from '../../test/run-proxy.ts'
import { dial, freePort, makeEndpointSpec, makePair, newest, startEngine, until } from '../../test/stage.ts'
import { beginLongValue, forgetPeak, getLongValue, peakBytes, setLongValue } from '../../test/stream-value.ts'

const MB = 1024 * 1024
/** The longest value that engines take. */
const LONGEST = 512 * MB

test('the longest value there may be goes through, byte by byte, and the proxy keeps little of it', async () => {
  await using engine = await startEngine(newest)
  await using proxy = await runProxy({ nodeFlags: proxyFlags })
  const port = await freePort()
  await proxy.client.putEndpoint({ params: { id: 'bdb-1' }, body: makeEndpointSpec(port, engine.port) })
  const pid = proxy.process().pid ?? 0
  forgetPeak(pid)
  const before = peakBytes(pid)
  await setLongValue(port, 'k', LONGEST)
  expect(await engine.admin('STRLEN k')).toBe(`:${LONGEST}\r\n`)
  expect(await getLongValue(port, 'k')).toBe(LONGEST)
  expect(peakBytes(pid) - before).toBeLessThan(LONGEST / 2)
})

test('a hold waits for a long value on its way, or is given up; its client notices neither', async () => {
  await using pair = await makePair()
  await using other = await dial(pair.port)
  await other.ask('PING', '+PONG\r\n')
  await using value = await beginLongValue(pair.port, 'k', 32 * MB)
  await value.sendUpTo(8 * MB)

  let [isOver, wasHeld] = [false, false]
  const tryEarly = async () => {
    for (;;) {
      wasHeld = false
      const result = await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 200 })
      if (!result.drained) return result
      // On a busy machine the value seemed to stand still.
      pair.endpoint.release()
    }
  }
  const early = tryEarly().finally(() => {
    isOver = true
  })
  const sending = async () => {
    for (let bytes = 8 * MB; !isOver; bytes = Math.min(bytes + 4 * 1024, 24 * MB)) {
      await value.sendUpTo(bytes)
      await delay(1)
    }
  }
  const asking = async () => {
    while (!isOver) {
      await other.ask('PING', '+PONG\r\n')
      wasHeld ||= pair.endpoint.report().isHeld
    }
  }
  await Promise.all([sending(), asking()])
  expect(await early).toEqual({
    drained: false,
    ms: 0,
    code: 'long_requests',
    why: '1 connection(s) are in the middle of a long request',
    late: 0,
    tries: 1,
    cut: 0,
  })
  // No client is held for it: all are answered meanwhile.
  expect(wasHeld).toBe(false)

  const holdAtLast = async () => {
    for (;;) {
      const result = await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
      // On a busy machine the rest takes longer than a hold waits for it.
      if (result.drained) return result
    }
  }
  const later = holdAtLast()
  await value.sendUpTo(32 * MB)
  expect(await later).toMatchObject({ drained: true, late: 0 })
  await value.isSet()
  await until(async () => (await pair.b.admin('STRLEN k')) === `:${32 * MB}\r\n`)
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  expect(await getLongValue(pair.port, 'k')).toBe(32 * MB)
  expect(pair.endpoint.report()).toMatchObject({ repoints: 1, errors: 0 })
})

test('where other threads hold their clients already, a value that flows on is not waited for: the hold fails at once', async () => {
  await using pair = await makePair()
  await using value = await beginLongValue(pair.port, 'k', 32 * MB)
  const sendUpTo = async (bytes: number) => {
    await value.sendUpTo(bytes)
    const arrived = async () => [...(await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
    await until(async () => (await arrived()).some(([, length]) => Number(length) >= bytes))
  }
  await sendUpTo(2 * MB)
  expect(await pair.endpoint.calm(5_000)).toMatchObject({ long: 0 })
  await sendUpTo(3 * MB)
  // It sends nothing more: a hold that waits finds it still after 50 ms.
  expect(await pair.endpoint.hold({ deadlineMs: 60_000, calmMs: 0 })).toMatchObject({ drained: false, ms: 0 })
  expect(pair.endpoint.report()).toMatchObject({ isHeld: false, failedHolds: 1 })
  expect(await pair.endpoint.calm(5_000)).toMatchObject({ long: 0 })
  expect(await pair.endpoint.hold({ deadlineMs: 60_000, calmMs: 0 })).toMatchObject({
    drained: true,
    late: 1,
  })
  pair.endpoint.release()
})

test('a client that stops in the middle of a request holds up only itself', async () => {
  await using pair = await makePair()
  await using value = await beginLongValue(pair.port, 'k', 32 * MB)
  await value.sendUpTo(8 * MB)
  const arrived = async () => [...(await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
  await until(async () => (await arrived()).some(([, bytes]) => Number(bytes) >= 8 * MB))
  const { ms, ...held } = await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  expect(held).toEqual({ drained: true, why: '', late: 1, cut: 0 })
  expect(ms).toBeLessThan(25_000)
})

test('a client that does not read its replies holds up the others for a moment, not for as long as they may take', async () => {
  await using pair = await makePair()
  await using other = await dial(pair.port)
  await setLongValue(pair.port, 'k', 32 * MB)
  const lazy = connect({ host: '127.0.0.1', port: pair.port })
  await once(lazy, 'connect')
  lazy.pause()
  lazy.write('GET k\r\n')
  await until(async () => / omem=[1-9]\d{6,}/.test(await pair.a.admin('CLIENT LIST')))
  await other.ask('PING', '+PONG\r\n')
  const { drained, late, ms } = await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  expect({ drained, late }).toEqual({ drained: true, late: 1 })
  expect(ms).toBeLessThan(25_000)

  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  const behind = () => pair.endpoint.report().behind
  // The other one follows at once; it was idle.
  await until(() => behind()[0]?.connections === 1)
  expect(behind()).toEqual([{ shard: `127.0.0.1:${pair.a.port}`, connections: 1 }])
  let bytes = 0
  lazy.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  lazy.resume()
  await until(() => bytes === `$${32 * MB}\r\n\r\n`.length + 32 * MB)
  await until(() => behind().length === 0)
  lazy.destroy()
})

test('a client that stops reading only while clients are held holds them up no longer', async () => {
  await using pair = await makePair()
  await setLongValue(pair.port, 'k', 32 * MB)
  const lazy = connect({ host: '127.0.0.1', port: pair.port })
  await once(lazy, 'connect')
  let bytes = 0
  lazy.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    // Its engine stops in the middle of the answer: all that came has been read.
    if (bytes > MB) pair.a.process.kill('SIGSTOP')
  })
  lazy.write('GET k\r\n')
  await until(() => bytes > MB)
  let before = -1
  await until(() => {
    const stands = bytes === before
    before = bytes
    return stands
  })
  lazy.pause()
  const hold = pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  await delay(200) // by then clients that did not read when the hold began are not waited for any more
  pair.a.process.kill('SIGCONT')
  const { drained, late, ms } = await hold
  expect({ drained, late }).toEqual({ drained: true, late: 1 })
  expect(ms).toBeLessThan(25_000)
  lazy.destroy()
})
