import { once } from 'node:events'
import { connect } from 'node:net'
import { encodeCommand } from '@fairlead/engine'
import { afterEach, expect, test, vi } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { UNREAD, UNREAD_MS } from '../../../src/traffic/watch-unread.ts'
import { makeCluster } from '../../sharded-stage.ts'
import { freePort, makeEndpointSpec, newest, startEngine, until } from '../../stage.ts'
import { holdTimers } from '../../stop-clock.ts'

const value = Buffer.alloc(1_000, 'v')
const set = encodeCommand(['SET', '{a}k', value, 'GET'])
const script = "return redis.call('SET', KEYS[1], ARGV[1], 'GET')"
const evalScript = encodeCommand(['EVAL', script, '1', '{a}k', value])
afterEach(() => vi.restoreAllMocks())

/** A client as many libraries have it: it writes all of a pipeline, and only then begins to read. */
async function pipeline(
  port: number,
  request: Buffer,
  times: number,
  before: () => Promise<void> = async () => undefined,
) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.pause()
  let text = ''
  let ended = false
  const chunk = Buffer.concat(Array.from({ length: 100 }, () => request))
  const written = (async () => {
    for (let n = 0; n < times / 100; n += 1) if (!socket.write(chunk)) await once(socket, 'drain')
  })()
  await Promise.all([written, before()])
  socket.on('end', () => {
    ended = true
  })
  let replies = 0
  socket.on('data', (bytes) => {
    text = (text + bytes.toString('latin1')).slice(-1_000_000)
    for (let at = bytes.indexOf('$'); at >= 0; at = bytes.indexOf('$', at + 1)) replies += 1
  })
  socket.resume()
  await until(
    () => replies === times || ended,
    () => `${replies} replies of ${times}`,
    60_000,
  )
  socket.destroy()
  return { replies, last: text.split('\r\n').at(-2) ?? '' }
}

test('a pipeline that is written whole before its client reads is carried out, as by an engine', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  for (const [request, times] of [
    [set, 100_000],
    [evalScript, 20_000],
  ] as const)
    for (const port of [engine.port, endpoint.wanted.port])
      expect((await pipeline(port, request, times)).replies).toBe(times)
})

test('a longer one than an endpoint keeps ends with an error that says why, behind the replies to what was executed', async () => {
  const held = holdTimers(UNREAD_MS)
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using cluster = await makeCluster()
  for (const [port, request, least] of [
    [endpoint.wanted.port, evalScript, 64_000],
    [cluster.port, set, 8_192],
  ] as const) {
    const before = held.length
    const time = async () => {
      await until(() => held.length > before)
      // Its kernel takes what still fits; when no more does, the time is over.
      for (let looked = before; looked < held.length; looked += 1) {
        held[looked]?.()
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    const { replies, last } = await pipeline(port, request, 120_000, time)
    expect(replies).toBeGreaterThan(least)
    expect(replies).toBeLessThan(120_000)
    expect(last).toBe(`-${UNREAD}`)
  }
})
