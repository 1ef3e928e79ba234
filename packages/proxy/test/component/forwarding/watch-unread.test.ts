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
  { onStopped = () => undefined, hundredth = request }: { onStopped?: () => void; hundredth?: Buffer } = {},
) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.pause()
  let text = ''
  let ended = false
  const chunk = Buffer.concat([...Array.from({ length: 99 }, () => request), hundredth])
  const written = (async () => {
    for (let n = 0; n < times / 100; n += 1) if (!socket.write(chunk)) await once(socket, 'drain')
  })()
  // All kernels between are full when nothing has moved in this many turns.
  let taken = 0
  let turns = 0
  const timer = setInterval(() => {
    const now = socket.bytesWritten - socket.writableLength
    turns = now === taken ? turns + 1 : 0
    taken = now
    if (turns >= 20) onStopped()
  }, 100)
  await written
  clearInterval(timer)
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
    const { replies, last } = await pipeline(port, request, 120_000, { onStopped: passTime(held) })
    expect(replies).toBeGreaterThan(least)
    expect(replies).toBeLessThan(120_000)
    expect(last).toBe(`-${UNREAD}`)
  }
})

test('so does one in which requests wait until all before them are answered', async () => {
  const held = holdTimers(UNREAD_MS)
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using cluster = await makeCluster()
  await engine.admin('RPUSH list element')
  for (const [port, ...commands] of [
    [endpoint.wanted.port, ['BLMOVE', 'list', 'list', 'LEFT', 'RIGHT', '0']],
    [cluster.port, ['MGET', 'a', 'b', 'c']],
    [cluster.port, ['DBSIZE']],
    [cluster.port, ['MULTI'], ['SET', '{a}k', 'v'], ['EXEC']],
  ] as const) {
    const hundredth = Buffer.concat(commands.map((words) => encodeCommand(words)))
    const { replies, last } = await pipeline(port, set, 120_000, { onStopped: passTime(held), hundredth })
    expect(replies).toBeGreaterThan(1_000)
    expect(last).toBe(`-${UNREAD}`)
  }
})

/** Ends the timers that were begun since. */
function passTime(held: readonly (() => void)[]) {
  let ended = held.length
  return () => {
    for (const end = held.length; ended < end; ended += 1) held[ended]?.()
  }
}
