import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { LARGEST_LATE_BYTES } from '../../../src/connection/steer-client.ts'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { SLICE_MS } from '../../../src/handover/awake-timer.ts'
import { dial, freePort, makeEndpointSpec, makePair, newest, startEngine, until } from '../../stage.ts'
import { stopClock } from '../../stop-clock.ts'

afterEach(() => vi.restoreAllMocks())

const host = '127.0.0.1'
const BYTES = 1_000_000
const HEAD = `*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$${BYTES}\r\n`
/** More than the kernel takes between an engine and a client, so the client has a part of a message. */
const MORE_THAN_KERNEL = 24
/** More than an endpoint keeps beside that. */
const TOO_MANY = MORE_THAN_KERNEL + 2 * (LARGEST_LATE_BYTES / BYTES)

/** A subscriber that does not read; its engines keep everything for it. */
async function startSlowSubscriber(count: number) {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair())
  for (const engine of [pair.a, pair.b])
    await engine.admin('CONFIG SET client-output-buffer-limit "pubsub 0 0 0"')
  const subscriber = stack.use(await dial(pair.port))
  await subscriber.ask('SUBSCRIBE c', '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n')
  subscriber.socket.pause()
  const publisher = stack.use(await dial(pair.port))
  let last = 0
  const publish = async () => {
    last += 1
    const message = `*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$${BYTES}\r\n${String(last).padEnd(BYTES, '.')}\r\n`
    publisher.send(message)
    // How many connections have heard it: the engine may not have noticed yet that one is closed.
    await until(() => publisher.text().endsWith('\r\n'))
    await publisher.gets(publisher.text())
  }
  while (last < count) await publish()
  const owned = stack.move()
  return {
    pair,
    subscriber,
    publish,
    /** The numbers of the messages that it has got whole, and the length of what does not belong to one. */
    heard() {
      const [before, ...parts] = subscriber.text().split(HEAD)
      const whole = parts.filter((part) => part.length === BYTES + 2)
      const rest = parts.filter((part) => part.length !== BYTES + 2)
      return { numbers: whole.map((part) => Number.parseInt(part, 10)), strange: before, rest }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n + 1)
}

test('a subscriber that does not read while its role moves gets all messages later, whole and in order', async () => {
  await using slow = await startSlowSubscriber(MORE_THAN_KERNEL)
  // The machine may be busy for longer.
  stopClock(SLICE_MS)
  await slow.pair.handOver()
  await slow.publish()
  slow.subscriber.socket.resume()
  const all = upTo(MORE_THAN_KERNEL + 1)
  await until(
    () => slow.subscriber.ended() || slow.subscriber.text().length >= all.length * (HEAD.length + BYTES + 2),
  )
  expect(slow.heard()).toEqual({ numbers: all, strange: '', rest: [] })
})

test('a subscriber that reads neither its messages nor the answer to its PING gets each message once, in order, while others publish', async () => {
  await using slow = await startSlowSubscriber(MORE_THAN_KERNEL)
  slow.subscriber.send('PING\r\n')
  stopClock(SLICE_MS)
  await using publisher = await dial(slow.pair.port)
  let sent = 0
  const publishMany = async () => {
    const lines = Array.from({ length: 50 }, (_, n) => `PUBLISH c #${sent + n};\r\n`)
    publisher.send(lines.join(''))
    await until(() => publisher.text().length === lines.length * ':1\r\n'.length)
    await publisher.gets(publisher.text())
    sent += lines.length
  }
  let isOver = false
  const publishing = (async () => {
    while (!isOver) await publishMany()
  })()
  await slow.pair.handOver()
  slow.subscriber.socket.resume()
  const heard = () => [...slow.subscriber.text().matchAll(/#(\d+);/g)].map(([, n]) => Number(n))
  await until(() => slow.pair.endpoint.report().behind.length === 0)
  const before = sent
  await until(() => sent > before)
  isOver = true
  await publishing
  await until(() => slow.subscriber.ended() || heard().at(-1) === sent - 1)
  expect(heard()).toEqual(Array.from({ length: sent }, (_, n) => n))
})

test('a subscriber with more messages than an endpoint keeps is closed when its role moves, before it would miss one', async () => {
  await using slow = await startSlowSubscriber(TOO_MANY)
  await slow.pair.handOver()
  await slow.publish()
  slow.subscriber.socket.resume()
  await until(slow.subscriber.ended)
  const { numbers, strange, rest } = slow.heard()
  expect(numbers).toEqual(upTo(numbers.length))
  expect(strange).toBe('')
  // The message that is cut off by the end of the connection.
  expect(rest.length).toBeLessThan(2)
})

test('a subscriber that has a part of a message is closed when its engine never sends the rest', async () => {
  await using slow = await startSlowSubscriber(MORE_THAN_KERNEL)
  const { pair } = slow
  await pair.endpoint.hold({ deadlineMs: 60_000 })
  await pair.moveRole()
  pair.a.process.kill('SIGKILL')
  await pair.endpoint.switchTo({ host, port: pair.b.port })
  await slow.publish()
  slow.subscriber.socket.resume()
  await until(slow.subscriber.ended)
  expect(slow.heard().numbers).toEqual(upTo(slow.heard().numbers.length))
})

/** In front of an engine: passes everything on, and says what the test wants. */
async function startRelay(port: number) {
  const clients: Socket[] = []
  const server = createServer((client) => {
    const engine = connect({ host, port })
    for (const [socket, other] of [
      [client, engine],
      [engine, client],
    ] as const)
      socket
        .on('data', (bytes) => other.write(bytes))
        .on('close', () => other.destroy())
        .on('error', () => undefined)
    clients.push(client)
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    say(text: string) {
      for (const client of clients) client.write(text)
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a subscriber stays connected if its former primary dies while its last messages are asked for', async () => {
  await using pair = await makePair()
  await using subscriber = await dial(pair.port)
  await subscriber.ask('SUBSCRIBE c', '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n')
  const former = pair.primary()
  expect((await pair.endpoint.hold({ deadlineMs: 60_000 })).drained).toBe(true)
  await pair.moveRole()
  former.process.kill('SIGSTOP')
  const switched = pair.endpoint.switchTo({ host, port: pair.primary().port })
  const isSubscribed = async () => (await pair.primary().admin('PUBSUB NUMSUB c')).endsWith(':1\r\n')
  await until(isSubscribed)
  former.process.kill('SIGKILL')
  await switched
  await pair.primary().admin('PUBLISH c hello')
  await subscriber.gets('*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0 })
})

test('a client that tracks keys gets the rest of an invalidation of its former engine before anything of the next', async () => {
  await using engine = await startEngine(newest)
  await using next = await startEngine(newest)
  await using relay = await startRelay(engine.port)
  const port = await freePort()
  await using endpoint = await openEndpoint(makeEndpointSpec(port, relay.port))
  await using client = await dial(port)
  client.send('HELLO 3\r\nCLIENT TRACKING ON\r\nECHO there\r\n')
  await until(() => client.text().endsWith('there\r\n'))
  await client.gets(client.text())
  const begin = '>2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nk'
  relay.say(begin)
  await client.gets(begin)
  await endpoint.hold({ deadlineMs: 60_000 })
  client.send('ECHO after\r\n')
  const switching = endpoint.switchTo({ host, port: next.port })
  await until(async () => (await next.admin('CLIENT LIST')).includes('cmd=client|tracking'))
  relay.say('ey\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nj\r\n')
  await switching
  await client.gets('ey\r\n>2\r\n$10\r\ninvalidate\r\n_\r\n$5\r\nafter\r\n')
})
