import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { followAction } from '@fairlead/api'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../../../../proof/until.ts'
import type { StreamLimits } from '../../../src/http/answer-stream.ts'
import { createHttp } from '../../../src/http/create-http.ts'
import type { PlaceLimits } from '../../../src/http/long-request-limiter.ts'
import { mountOn } from '../../../src/http/mount.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** A server with one stream, whose source counts what is taken from it. */
async function serve(
  source: (signal: AbortSignal) => AsyncIterable<{ readonly waiting_for: string }>,
  streamLimits: Partial<StreamLimits> = {},
  placeLimits: PlaceLimits = { most: 10, mostOfSource: 10, mostOfUser: 10 },
) {
  const count = { taken: 0, running: 0 }
  const lines: string[] = []
  const user = { uid: 1, name: 'admin', grants: [{ management: 'admin', databases: null }] } as const
  const http = createHttp({
    identify: (_, { address }) => ({ user, address, token: null }),
    onRefused: async () => undefined,
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    streamLimits,
    placeLimits,
  })
  mountOn(http)(followAction, async () => ({
    admits: () => true,
    async *events(_, signal) {
      count.running += 1
      try {
        for await (const event of source(signal)) {
          count.taken += 1
          yield { seq: count.taken, type: 'action', time: '', ...event }
        }
      } finally {
        count.running -= 1
      }
    },
  }))
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  opened.push(() => http.close())
  return { count, lines, url, http }
}

const large = { waiting_for: 'x'.repeat(10_000) }
async function* endless() {
  for (;;) yield large
}
async function* silent(signal: AbortSignal): AsyncGenerator<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  yield* []
}

/** A client that sends a request and then reads nothing. */
async function askAndStall(url: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
  opened.push(() => socket.destroy())
  socket.pause()
  socket.write('GET /v1/actions/a/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return socket
}

/** Waits until a number has not changed for a while. */
async function untilCalm(read: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = read()
    if (now === last) return now
    last = now
    await pause(300)
  }
}

// invariant: A slow follower of events makes the server neither wait nor keep events for it.
test('for a client that does not read, the source is not read ahead; when the client reads on, so does the source', async () => {
  const { count, url } = await serve(endless)
  const socket = await askAndStall(url)
  await until('the first event', () => count.taken > 0)
  const stalled = await untilCalm(() => count.taken)
  expect(stalled).toBeLessThan(2_000) // as much as the kernel holds for a connection, not all events of the source
  let isEnough = false
  socket.on('data', () => {
    isEnough ||= count.taken > stalled + 3_000
    if (isEnough) socket.pause()
  })
  socket.resume()
  await until('more events', () => isEnough)
})

test('a client that reads nothing for long is disconnected, and nothing is left of it, or of one that hangs up', async () => {
  const { count, lines, url } = await serve(endless, { stalledMs: 200 })
  const stalled = await askAndStall(url)
  await until('the stream', () => count.running === 1)
  await until('the end of a stalled stream', () => count.running === 0)
  stalled.destroy()

  const quiet = await serve(silent)
  const socket = await askAndStall(quiet.url)
  await until('the stream', () => quiet.count.running === 1)
  socket.destroy()
  await until('the end of a stream whose client hung up', () => quiet.count.running === 0)
  expect([...lines, ...quiet.lines]).toEqual([])
})

test('a client that has read nothing for long finds the reason at the end of what it reads then', async () => {
  // As long as it may read nothing, it has again for the rest.
  const { count, url } = await serve(endless, { stalledMs: 3_000 })
  const socket = await askAndStall(url)
  await until('the stream', () => count.running === 1)
  await until('the end of a stalled stream', () => count.running === 0)
  let text = ''
  for await (const chunk of socket) text = `${text}${chunk}`.slice(-2_000)
  expect(text).toMatch(/event: cut\ndata: \{"type":"cut","reason":"slow_reader","message":"[^"]+"\}\n\n/)
  expect(text.endsWith('0\r\n\r\n')).toBe(true)
})

test('a server that stops ends its streams: the quiet ones, and those whose clients do not read', async () => {
  // None of them would end by itself before the test does.
  const never = { heartbeatMs: 3_600_000, stalledMs: 3_600_000 }
  const quiet = await serve(silent, never)
  const stuck = await serve(endless, never)
  const response = await fetch(`${quiet.url}/v1/actions/a/events`)
  await askAndStall(stuck.url)
  await until('both streams', () => quiet.count.running + stuck.count.running === 2)
  await untilCalm(() => stuck.count.taken)

  await Promise.all([quiet.http.close(), stuck.http.close()])
  expect([quiet.count.running, stuck.count.running]).toEqual([0, 0])
  expect(await response.text()).not.toContain('event: end')
})

test('a stream beyond the limit is refused, and is accepted when another one has ended', async () => {
  const { count, url } = await serve(silent, {}, { most: 1, mostOfSource: 2, mostOfUser: 2 })
  const first = new AbortController()
  const kept = await fetch(`${url}/v1/actions/a/events`, { signal: first.signal })
  const second = await fetch(`${url}/v1/actions/a/events`)
  expect([second.status, await second.json()]).toMatchObject([429, { error_code: 'too_many_requests' }])
  // Of an answer that nothing refers to any more, the collector of garbage closes the connection.
  expect(kept.status).toBe(200)
  first.abort()
  await until('the end of the first', () => count.running === 0)
  const third = await fetch(`${url}/v1/actions/a/events`)
  expect(third.status).toBe(200)
})

test('a source that fails ends the stream and is logged; the client gets no reason and no undeclared field', async () => {
  const { lines, url } = await serve(async function* () {
    yield { waiting_for: 'a', password: 'hidden' }
    throw new Error('a secret in a stack')
  })
  const text = await (await fetch(`${url}/v1/actions/a/events`)).text()
  expect(text).toBe('id: 1\nevent: action\ndata: {"seq":1,"type":"action","time":"","waiting_for":"a"}\n\n')
  expect(lines.join('')).toContain('a stream failed')
})

test('one user has a limited number of streams, and others have theirs', async () => {
  let uid = 1
  const http = createHttp({
    identify: (_, requester) => ({
      ...requester,
      token: null,
      user: { uid, name: `${uid}`, grants: [{ management: 'admin', databases: null }] },
    }),
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    placeLimits: { most: 10, mostOfSource: 10, mostOfUser: 2 },
  })
  mountOn(http)(followAction, async () => ({ admits: () => true, events: (_, signal) => silent(signal) }))
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  opened.push(() => http.close())
  const first = new AbortController()
  // Kept: of an answer that nothing refers to any more, the collector of garbage closes the connection.
  const kept = new Set<Response>()
  const follow = async (signal?: AbortSignal) => {
    const response = await fetch(`${url}/v1/actions/a/events`, signal && { signal })
    kept.add(response)
    return response.status
  }
  expect([await follow(first.signal), await follow(), await follow()]).toEqual([200, 200, 429])
  uid = 2
  expect(await follow()).toBe(200)
  uid = 1
  first.abort()
  let status = 429
  while (status === 429) status = await follow() // until the server has noticed it
  expect(status).toBe(200)
})
