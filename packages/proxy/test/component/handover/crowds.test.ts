import { afterEach, expect, test, vi } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { SLICE_MS } from '../../../src/handover/awake-timer.ts'
import { createAdmission } from '../../../src/listen/admission.ts'
import { keyOf, makeCluster } from '../../sharded-stage.ts'
import {
  dial,
  freePort,
  makeEndpointSpec,
  makePair,
  newest,
  type RawClient,
  startEngine,
  until,
} from '../../stage.ts'
import { stopClock } from '../../stop-clock.ts'

afterEach(() => vi.restoreAllMocks())

const MANY = 300

async function dialMany(port: number, count: number, stack: AsyncDisposableStack): Promise<RawClient[]> {
  const clients: RawClient[] = []
  // Each client is served before the next ones connect: this many at once would wait for each other.
  while (clients.length < count) {
    const some = await Promise.all(
      Array.from({ length: Math.min(50, count - clients.length) }, () => dial(port)),
    )
    for (const client of some) clients.push(stack.use(client))
    for (const client of some) await client.ask('PING', '+PONG\r\n')
  }
  return clients
}

/**
 * Increments its own counter without a pause, and checks each answer, until it is stopped. Returns the number
 * of increments.
 */
async function countUp(client: RawClient, key: string, signal: AbortSignal): Promise<number> {
  let count = 0
  while (!signal.aborted) await client.ask(`INCR ${key}`, `:${++count}\r\n`)
  return count
}

// invariant: Thousands of waiting clients delay no writer, and miss nothing.
test('thousands of waiting clients delay no other client: everything arrives once and in order, through many handovers', async () => {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair())
  const [poppers, subscribers, writers] = [
    await dialMany(pair.port, MANY, stack),
    await dialMany(pair.port, MANY, stack),
    await dialMany(pair.port, 20, stack),
  ]
  const [publisher, pusher] = await dialMany(pair.port, 2, stack)
  if (publisher === undefined || pusher === undefined) throw new Error('no clients')
  const subscribed = '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'
  for (const each of subscribers) await each.ask('SUBSCRIBE c', subscribed)
  for (const [n, each] of poppers.entries()) each.send(`BLPOP q${n} 0\r\n`)
  await until(
    async () => (await pair.primary().admin('INFO clients')).includes(`blocked_clients:${MANY}`),
    undefined,
  )

  const stop = new AbortController()
  const counting = writers.map((each, n) => countUp(each, `n${n}`, stop.signal))
  let published = 0
  const publishing = (async () => {
    // Each answer says how many have heard it.
    while (!stop.signal.aborted) await publisher.ask(`PUBLISH c ${published++}`, `:${MANY}\r\n`)
  })()
  for (const _ of [1, 2]) {
    await pair.endpoint.prepare({ host: '127.0.0.1', port: pair.successor().port })
    const before = published
    await pair.handOver()
    await until(() => published > before + 5)
  }
  stop.abort()
  await Promise.all([...counting, publishing])
  const all = Array.from({ length: published }, (_, n) => {
    return `*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$${String(n).length}\r\n${n}\r\n`
  }).join('')
  for (const each of subscribers) await each.gets(all)
  for (const [n] of poppers.entries()) await pusher.ask(`RPUSH q${n} once twice`, ':2\r\n')
  for (const [n, each] of poppers.entries())
    await each.gets(`*2\r\n$${1 + String(n).length}\r\nq${n}\r\n$4\r\nonce\r\n`)
  for (const [n, each] of poppers.entries()) await each.ask(`LPOP q${n}`, '$5\r\ntwice\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, repoints: 2 })
})

test('writers are answered while waiting clients still move', async () => {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair())
  const [poppers, subscribers, [writer, publisher]] = [
    await dialMany(pair.port, MANY, stack),
    await dialMany(pair.port, MANY, stack),
    await dialMany(pair.port, 2, stack),
  ]
  if (writer === undefined || publisher === undefined) throw new Error('no clients')
  for (const each of subscribers) await each.ask('SUBSCRIBE c', '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n')
  for (const each of poppers) each.send('BLPOP q 0\r\n')
  await until(async () => (await pair.a.admin('INFO clients')).includes(`blocked_clients:${MANY}`))
  await writer.ask('SET k 0', '+OK\r\n')

  expect(await pair.endpoint.hold({ deadlineMs: 60_000 })).toMatchObject({ drained: true })
  writer.send('SET k 1\r\n')
  publisher.send('PUBLISH c m\r\n')
  await pair.moveRole()
  // The old primary hangs: connections that need its last reply still move when the order is done.
  pair.a.process.kill('SIGSTOP')
  stack.defer(() => void pair.a.process.kill('SIGCONT'))
  // They are not given up before it goes on.
  stopClock(SLICE_MS)
  const switched = await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  expect(switched).toMatchObject({ closed: 0, later: 2 * MANY })
  await writer.gets('+OK\r\n')
  await writer.ask('EXISTS q', ':0\r\n')
  expect(publisher.text()).toBe('')
  expect(subscribers.every((each) => each.text() === '')).toBe(true)
  pair.a.process.kill('SIGCONT')
  // Nothing is published before the last of them can hear it.
  await publisher.gets(`:${MANY}\r\n`)
  for (const each of subscribers) await each.gets('*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n')
  await writer.ask(`RPUSH q ${Array.from({ length: MANY }, () => 'x').join(' ')}`, `:${MANY}\r\n`)
  for (const each of poppers) await each.gets('*2\r\n$1\r\nq\r\n$1\r\nx\r\n')
})

test('a client that waits for a list keeps waiting when the role moves there and back while it is held', async () => {
  await using pair = await makePair()
  await using waits = await dial(pair.port)
  waits.send('BLPOP q 0\r\n')
  await until(async () => (await pair.a.admin('INFO clients')).includes('blocked_clients:1'))
  expect(await pair.endpoint.hold({ deadlineMs: 60_000 })).toMatchObject({ drained: true })
  await pair.a.admin(`REPLICAOF 127.0.0.1 ${pair.b.port}`)
  await pair.a.admin('REPLICAOF NO ONE')
  pair.endpoint.release()
  await until(async () => (await pair.a.admin('INFO clients')).includes('blocked_clients:1'))
  await pair.a.admin('RPUSH q item')
  await waits.gets('*2\r\n$1\r\nq\r\n$4\r\nitem\r\n')
})

test('links are made ready for half of the free files at most, and are given back', async () => {
  await using stack = new AsyncDisposableStack()
  const engines = [stack.use(await startEngine(newest)), stack.use(await startEngine(newest))] as const
  const admission = createAdmission(30)
  const wanted = makeEndpointSpec(await freePort(), engines[0].port)
  const endpoint = stack.use(await openEndpoint(wanted, { admission }))
  const clients = await dialMany(wanted.port, 20, stack)
  for (const each of clients) await each.ask('SELECT 1', '+OK\r\n')
  const successor = { host: '127.0.0.1', port: engines[1].port }
  // Where the machine stalls, some are not ready in time.
  await until(async () => (await endpoint.prepare(successor)) >= 10)
  await until(async () => (await endpoint.prepare(successor)) >= 10)
  expect(admission).toMatchObject({ open: 20, prepared: 10 })
  await endpoint.switchTo(successor)
  for (const each of clients) await each.ask('SET k v', '+OK\r\n')
  expect(admission.prepared).toBe(0)
  expect(await engines[1].admin('INFO keyspace')).toContain('db1:keys=1')
})

test('subscribers of a sharded database miss nothing, and writers of the group do not wait for them', async () => {
  await using stack = new AsyncDisposableStack()
  const cluster = stack.use(await makeCluster({ withReplicas: true }))
  const subscribers = await dialMany(cluster.port, 100, stack)
  const [publisher, writer] = await dialMany(cluster.port, 2, stack)
  if (publisher === undefined || writer === undefined) throw new Error('no clients')
  const [key] = keyOf
  const confirmed = `*3\r\n$10\r\nssubscribe\r\n$4\r\n${key}\r\n:1\r\n`
  for (const each of subscribers) await each.ask(`SSUBSCRIBE ${key}`, confirmed)
  const stop = new AbortController()
  const counting = countUp(writer, key, stop.signal)
  let published = 0
  const publishing = (async () => {
    while (!stop.signal.aborted) await publisher.ask(`SPUBLISH ${key} ${published++}`, ':100\r\n')
  })()
  for (const _ of [1, 2]) {
    const before = published
    await cluster.handOver(0)
    await until(() => published > before + 5)
  }
  stop.abort()
  await Promise.all([counting, publishing])
  const all = Array.from({ length: published }, (_, n) => {
    return `*3\r\n$8\r\nsmessage\r\n$4\r\n${key}\r\n$${String(n).length}\r\n${n}\r\n`
  }).join('')
  for (const each of subscribers) await each.gets(all)
})

test('clients that connect, and requests that arrive, while the first connections move are served after these', async () => {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair())
  const hearing = await dialMany(pair.port, MANY, stack)
  for (const each of hearing) {
    each.send('SUBSCRIBE __keyspace@0__:k\r\n')
    await until(() => each.text().endsWith(':1\r\n'))
  }
  const [early] = await dialMany(pair.port, 1, stack)
  await until(async () =>
    (await pair.successor().admin('INFO replication')).includes('master_link_status:up'),
  )
  const held = await pair.endpoint.hold({ deadlineMs: 60_000 })
  expect(held.why).toBe('')
  await pair.moveRole()
  const switching = pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.primary().port })
  const late = await Promise.all([1, 2, 3].map(() => dial(pair.port)))
  for (const each of late) stack.use(each)
  const asking = [...late, ...(early === undefined ? [] : [early])]
  for (const each of asking) each.send('PING\r\n')
  await switching
  for (const each of asking) await each.gets('+PONG\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, isHeld: false })
})
