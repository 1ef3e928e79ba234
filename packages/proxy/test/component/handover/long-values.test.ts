import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeCommand } from '@fairlead/engine'
import { afterEach, expect, test, vi } from 'vitest'
import { createClock } from '../../pass-time.ts'
import { proxyFlags, runProxy } from '../../run-proxy.ts'
import { dial, freePort, makeEndpointSpec, makePair, newest, startEngine, until } from '../../stage.ts'
import { beginLongValue, forgetPeak, getLongValue, peakBytes, setLongValue } from '../../stream-value.ts'

afterEach(() => vi.restoreAllMocks())

const MB = 1024 * 1024
/** After this silence no handover waits for a client. */
const SILENT_MS = 2_100
/** The longest value that engines take. */
const LONGEST = 512 * MB

test('the longest permitted value passes unchanged, and the proxy keeps little of it', async () => {
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

test('a hold waits for a long value that is being sent, or is given up; the client notices neither', async () => {
  await using pair = await makePair()
  // A client is not silent because the machine stalls.
  createClock()
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

test('if other threads hold their clients already, a hold does not wait for a value that is still being sent: it fails at once', async () => {
  await using pair = await makePair()
  const pass = createClock()
  await using value = await beginLongValue(pair.port, 'k', 32 * MB)
  const sendUpTo = async (bytes: number) => {
    await value.sendUpTo(bytes)
    const arrived = async () => [...(await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
    await until(async () => (await arrived()).some(([, length]) => Number(length) >= bytes))
  }
  const becomesSilent = async () => {
    expect(await pair.endpoint.calm(5_000)).toMatchObject({ long: 1 })
    pass(SILENT_MS)
    expect(await pair.endpoint.calm(5_000)).toMatchObject({ long: 0 })
  }
  await sendUpTo(2 * MB)
  await becomesSilent()
  await sendUpTo(3 * MB)
  expect(await pair.endpoint.hold({ deadlineMs: 60_000, calmMs: 0 })).toMatchObject({ drained: false, ms: 0 })
  expect(pair.endpoint.report()).toMatchObject({ isHeld: false, failedHolds: 2 })
  await becomesSilent()
  expect(await pair.endpoint.hold({ deadlineMs: 60_000, calmMs: 0 })).toMatchObject({
    drained: true,
    late: 1,
  })
  pair.endpoint.release()
})

test('a client that stops in the middle of a request that cannot move delays a hold for two seconds, then it delays only itself', async () => {
  await using pair = await makePair()
  const pass = createClock()
  await using other = await dial(pair.port)
  await using value = await beginLongValue(pair.port, 'k', 32 * MB)
  await value.sendUpTo(12 * MB)
  const arrived = async () => [...(await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
  await until(async () => (await arrived()).some(([, bytes]) => Number(bytes) >= 12 * MB))
  const times = { deadlineMs: 60_000, drainMs: 50_000 }
  expect(await pair.endpoint.hold(times)).toMatchObject({
    drained: false,
    ms: 0,
    code: 'long_requests',
    tries: 1,
  })
  await other.ask('PING', '+PONG\r\n')
  pass(SILENT_MS)
  const { ms, ...held } = await pair.endpoint.hold(times)
  expect(held).toEqual({ drained: true, why: '', late: 1, cut: 0 })
  expect(ms).toBeLessThan(25_000)
})

test('a client that begins such a request just before a hold, and stops, ends the hold and is not left behind', async () => {
  await using pair = await makePair()
  await using value = await beginLongValue(pair.port, 'k', 32 * MB)
  await value.sendUpTo(MB)
  // All of it: a client that sends has another obstacle.
  await until(async () => /qbuf=\d{7}/.test(await pair.a.admin('CLIENT LIST')))
  expect(await pair.endpoint.hold({ deadlineMs: 10_000, drainMs: 5_000, calmMs: 0 })).toMatchObject({
    drained: false,
    code: 'long_requests',
  })
  expect(pair.endpoint.report().isHeld).toBe(false)
  await value.sendUpTo(32 * MB)
  await value.isSet()
})

test('if the role has moved already, a client that stops in the middle of a request is left behind', async () => {
  await using pair = await makePair()
  await using other = await dial(pair.port)
  await using value = await beginLongValue(pair.port, 'k', 32 * MB)
  await value.sendUpTo(MB)
  await until(async () => /qbuf=\d{6}/.test(await pair.a.admin('CLIENT LIST')))
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  await other.ask('SET other v', '+OK\r\n')
  expect(pair.endpoint.report().behind).toEqual([{ shard: `127.0.0.1:${pair.a.port}`, connections: 1 }])
})

test('a client that does not read its replies delays the others for a moment only', async () => {
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

test('what a client that does not read has sent is executed before the role moves, and answered later', async () => {
  await using pair = await makePair()
  const lazy = connect({ host: '127.0.0.1', port: pair.port })
  await once(lazy, 'connect')
  lazy.pause()
  const requests = Buffer.concat(Array(10_000).fill(encodeCommand(['SET', 'k', 'v'.repeat(1_000), 'GET'])))
  let sent = 0
  const send = () => {
    lazy.write(requests)
    sent += 10_000
  }
  send()
  // How many replies the kernel takes differs.
  const more = setInterval(send, 2_000)
  await until(async () => / omem=[1-9]\d{6,}/.test(await pair.a.admin('CLIENT LIST')))
  clearInterval(more)
  // The next requests wait in its kernel when the hold begins.
  pair.a.process.kill('SIGSTOP')
  send()
  await delay(200)
  const hold = pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  await delay(200)
  pair.a.process.kill('SIGCONT')
  expect(await hold).toMatchObject({ drained: true, late: 0 })
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  let [replies, errors] = [0, 0]
  lazy.on('data', (chunk: Buffer) => {
    replies += chunk.toString('latin1').split('$').length - 1
    errors += chunk.toString('latin1').split('-READONLY').length - 1
  })
  lazy.resume()
  await until(() => replies + errors === sent)
  expect(errors).toBe(0)
  lazy.destroy()
})

test('a client that stops reading during a hold delays the others no longer than that', async () => {
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
