import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '@fairlead/api'
import { hashSlot } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mustBeAlone, mustBeFree } from '../../../src/workers/claim-port.ts'
import { countWorkers } from '../../../src/workers/count-workers.ts'
import { openRogue, wordsOfEngines } from '../../rogue.ts'
import { type RunningProxy, runProxy } from '../../run-proxy.ts'
import { keyOf, makeCluster, makeShardedSpec } from '../../sharded-stage.ts'
import { dial, freePort, makeEndpointSpec, newest, type RawClient, startEngine, until } from '../../stage.ts'
import { beginLongValue } from '../../stream-value.ts'
import { certificateOf, dialTls } from '../../tls-stage.ts'

const host = '127.0.0.1'
/**
 * One proxy for all tests, each with an endpoint of its own: three threads take a second to start. The last
 * test ends it.
 */
let proxy: RunningProxy
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proxy-steer-'))
  const preload = new URL('../../steer-threads.ts', import.meta.url).href
  const env = { STEER_FOLDER: folder }
  proxy = await runProxy({ workers: WORKERS, nodeFlags: [`--import=${preload}`], env })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/**
 * Makes a thread of the proxy hang or end; 0 is the main thread. Resolves when the thread hangs or has ended.
 * Answers what lets it go on.
 */
async function steer(thread: number, what: 'hang' | 'end'): Promise<() => Promise<void>> {
  const file = join(folder, `thread-${thread}`)
  await writeFile(file, what)
  await until(() => !existsSync(file))
  return () => writeFile(`${file}-goes-on`, '')
}

/**
 * The answer of all workers; undefined where one of them was late. They have some seconds, and the machine
 * may stall: then they are asked again.
 */
function unlessLate<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.code === 'unavailable') return undefined
    throw cause
  })
}

async function reportOf({ id }: { readonly id: string }) {
  const { endpoints } = await proxy.client.reportProxy({})
  return endpoints.find((endpoint) => endpoint.id === id)
}

const WORKERS = 2
/** Enough clients that both workers certainly have some. */
async function dialMany(port: number, stack: AsyncDisposableStack, count = 40): Promise<RawClient[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => dial(port)))
  for (const client of clients) stack.use(client)
  return clients
}

async function each(clients: readonly RawClient[], line: string, answer: string): Promise<void> {
  await Promise.all(clients.map((client) => client.ask(line, answer)))
}

// invariant: All threads of an endpoint hold and move its clients together.
test('clients of both workers are counted, listed, prepared, held and moved together', async () => {
  const params = { id: 'together' }
  await using stack = new AsyncDisposableStack()
  const old = stack.use(await startEngine(newest))
  const engine = stack.use(await startEngine(newest))
  const wanted = makeEndpointSpec(await freePort(), old.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  const clients = await dialMany(wanted.port, stack)
  await each(clients, 'CLIENT SETNAME us', '+OK\r\n')
  const listed = await proxy.client.listClients({ params, query: { limit: 30 } })
  expect(listed.connections).toBe(40)
  expect(listed.clients).toHaveLength(30)
  expect(listed.clients.map(({ connectedAt }) => connectedAt)).toEqual(
    listed.clients.map(({ connectedAt }) => connectedAt).toSorted((a, b) => a - b),
  )

  const upstream = { host, port: engine.port }
  let isOver = false
  const working = Promise.allSettled(
    clients.map(async (client) => {
      while (!isOver) await client.ask('SET k v', '+OK\r\n')
    }),
  )
  // More than one worker can have alone; on a busy machine not all clients send something at the moment that
  // counts.
  const prepare = () => unlessLate(proxy.client.prepareEndpoint({ params, body: { upstream } }))
  await until(async () => ((await prepare())?.prepared ?? 0) >= 34).finally(() => {
    isOver = true
  })
  expect((await working).filter(({ status }) => status === 'rejected')).toEqual([])
  expect(await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000 } })).toMatchObject({
    drained: true,
  })
  for (const client of clients) client.send('INCR n\r\n')
  const some = (text: string) => clients.filter((client) => client.text() === text).length
  expect(await reportOf(params)).toMatchObject({ state: 'held', connections: 40 })
  await until(async () => {
    const { clients: held } = await proxy.client.listClients({ params, query: { limit: 100 } })
    return held.every((client) => client.held)
  })
  expect(some('')).toBe(40)
  expect(await old.admin('EXISTS n')).toBe(':0\r\n')
  const switched = await proxy.client.switchEndpoint({ params, body: { upstream } })
  const { moved, later, closed, heldMs } = switched
  expect({ all: moved + later, closed }).toEqual({ all: 40, closed: 0 })
  await until(() => clients.every((client) => client.text() !== ''))
  expect(await engine.admin('GET n')).toBe('$2\r\n40\r\n')
  const { tape } = await proxy.client.readTape({ params, query: {} })
  expect(tape?.heldMs).toBe(heldMs)
  expect(Math.max(...(tape?.held ?? []))).toBe(40)
  const { commands, ...report } = (await reportOf(params)) ?? { commands: 0 }
  expect(report).toMatchObject({ state: 'serving', repoints: 1, failedHolds: 0, errors: 0, upstream })
  expect(commands).toBeGreaterThanOrEqual(120)
})

test('a subscriber in one worker misses none of the messages that clients of the other worker publish first after a switch', async () => {
  const params = { id: 'listeners' }
  await using stack = new AsyncDisposableStack()
  const old = stack.use(await startEngine(newest))
  const engine = stack.use(await startEngine(newest))
  const wanted = makeEndpointSpec(await freePort(), old.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  const listeners = await dialMany(wanted.port, stack, 150)
  await each(listeners, 'SUBSCRIBE news', '*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n')
  const speakers = await dialMany(wanted.port, stack, 10)
  await each(speakers, 'PING', '+PONG\r\n')
  const message = '*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n'
  for (const port of [engine.port, old.port, engine.port]) {
    await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000 } })
    for (const speaker of speakers) speaker.send('PUBLISH news hi\r\n')
    await proxy.client.switchEndpoint({ params, body: { upstream: { host, port } } })
    await Promise.all(speakers.map((speaker) => speaker.gets(':150\r\n')))
    await Promise.all(listeners.map((listener) => listener.gets(message.repeat(10))))
  }
})

test('while a worker does not answer no client is held, and the worker serves again when it can', async () => {
  const params = { id: 'hangs' }
  await using stack = new AsyncDisposableStack()
  const engine = stack.use(await startEngine(newest))
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  const clients = await dialMany(wanted.port, stack)
  await each(clients, 'PING', '+PONG\r\n')
  const goOn = await steer(1, 'hang')
  const held = proxy.client.holdEndpoint({ params, body: { deadlineMs: 20_000, drainMs: 100 } })
  for (const client of clients) client.send('PING\r\n')
  await expect(held).rejects.toThrow('a worker of the proxy has not answered (calm)')
  await goOn()
  const answered = () => clients.filter((client) => client.text() === '+PONG\r\n').length
  await until(() => answered() === 40)
  await until(async () => (await reportOf(params))?.state === 'serving')
  expect(await reportOf(params)).toMatchObject({ heldMsTotal: 0 })
})

test('a long upload in one worker delays no other client in any worker', async () => {
  const params = { id: 'uploads' }
  await using stack = new AsyncDisposableStack()
  const engine = stack.use(await startEngine(newest))
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  const clients = await dialMany(wanted.port, stack)
  const value = stack.use(await beginLongValue(wanted.port, 'k', 32 * 1024 * 1024))
  await value.sendUpTo(512 * 1024)
  let isOver = false
  const drainMs = 200
  const hold = async () => {
    for (;;) {
      const result = await unlessLate(
        proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000, drainMs } }),
      )
      // The upload was noticed before the hold, or by one of the threads while the others began theirs.
      if (result?.drained === false && result.ms < drainMs) return result
      // On a busy machine the upload may pause for 50 ms: then it is not waited for, and may go on during the
      // hold.
      await proxy.client.releaseEndpoint({ params, body: {} })
    }
  }
  const held = hold().finally(() => {
    isOver = true
  })
  // It goes on, whatever the other threads wait for.
  const upload = async () => {
    for (let bytes = 576 * 1024; !isOver; bytes += 64 * 1024) {
      await value.sendUpTo(bytes)
      await delay(5)
    }
  }
  const uploaded = upload()
  while (!isOver) await each(clients, 'PING', '+PONG\r\n')
  await uploaded
  const why = '1 connection(s) are in the middle of a long request'
  expect(await held).toMatchObject({ drained: false, code: 'long_requests', why })
  expect((await reportOf(params))?.failedHolds).toBeGreaterThan(0)
})

test('the workers end a hold themselves when the main thread is silent', async () => {
  const params = { id: 'silent' }
  await using stack = new AsyncDisposableStack()
  const engine = stack.use(await startEngine(newest))
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  const clients = await dialMany(wanted.port, stack)
  await each(clients, 'PING', '+PONG\r\n')
  await proxy.client.holdEndpoint({ params, body: { deadlineMs: 400 } })
  const goOn = await steer(0, 'hang')
  let reports = 0
  const report = proxy.client.reportProxy({}).then(() => {
    reports += 1
  })
  await each(clients, 'PING', '+PONG\r\n')
  expect(reports).toBe(0)
  await goOn()
  await report
})

test('errors of scripts about slots change nothing in any worker, and all workers follow reports of engines', async () => {
  const params = { id: 'elsewhere' }
  await using cluster = await makeCluster({ withReplicas: true })
  await using rogue = await openRogue()
  const wanted = await makeShardedSpec(cluster.shards, cluster.replicas)
  const { replicas: _, ...untold } = wanted
  await proxy.client.putEndpoint({ params, body: untold })
  await using stack = new AsyncDisposableStack()
  const clients = await dialMany(wanted.port, stack, 16)
  await each(clients, 'PING', '+PONG\r\n')
  // The other shards are named later, which no client notices.
  await proxy.client.putEndpoint({ params, body: wanted })
  const [zero] = keyOf
  const words = wordsOfEngines(hashSlot(Buffer.from(zero)), [rogue.port, cluster.replicas[0]?.port ?? 0])
  const says = "redis.call('INCR', KEYS[1]) return redis.error_reply(ARGV[1])"
  for (const word of words) await each(clients, `EVAL "${says}" 1 ${zero} "${word}"`, `-${word}\r\n`)
  expect(rogue.came).toEqual([])
  const report = await reportOf(params)
  expect(report).toMatchObject({ repoints: 0, errors: 0, connections: 16, shards: wanted.shards })
  expect(report?.doubted?.count).toBeGreaterThan(0)
  const [first] = clients
  const count = String(16 * words.length)
  await first?.ask(`GET ${zero}`, `$${count.length}\r\n${count}\r\n`)

  const port = await cluster.moveRole(0)
  await first?.ask(`DEL ${zero}`, ':1\r\n')
  for (const [n, client] of clients.entries()) await client.ask(`INCR ${zero}`, `:${n + 1}\r\n`)
  expect(await reportOf(params)).toMatchObject({ upstream: { host, port }, repoints: 1 })
})

test('while another group is held, a group whose clients cannot be held in one worker is switched in none', async () => {
  const params = { id: 'one-of-two' }
  await using cluster = await makeCluster({ withReplicas: true })
  const wanted = await makeShardedSpec(cluster.shards, cluster.replicas)
  await proxy.client.putEndpoint({ params, body: wanted })
  await using stack = new AsyncDisposableStack()
  const clients = await dialMany(wanted.port, stack, 16)
  const [zero] = keyOf
  await each(clients, `SET ${zero} v`, '+OK\r\n')
  const [engine, other] = [cluster.primaries[0], cluster.replicas[0]]
  if (engine === undefined || other === undefined) throw new Error('a group has two engines')
  const { last = 0 } = cluster.shards[2] ?? {}
  expect(await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000, slot: last } })).toMatchObject(
    {
      drained: true,
    },
  )
  // It is not answered, so its worker cannot hold this group.
  clients[0]?.send(`EVAL "while true do end" 1 ${zero}\r\n`)
  await until(async () => (await engine.admin('PING')).startsWith('-BUSY'))
  const body = { upstream: { host, port: other.port }, slot: hashSlot(Buffer.from(zero)) }
  await expect(proxy.client.switchEndpoint({ params, body })).rejects.toThrow('the endpoint cannot be held')
  expect(await reportOf(params)).toMatchObject({ repoints: 0, shards: wanted.shards })
  expect(await engine.admin('SCRIPT KILL')).toBe('+OK\r\n')
  await until(() => clients[0]?.text().startsWith('-ERR') ?? false)
  await proxy.client.releaseEndpoint({ params, body: { slot: last } })
})

test('an address has one proxy: if another process listens there, that is reported once, and the proxy listens when that process is gone', async () => {
  const params = { id: 'taken' }
  const wanted = makeEndpointSpec(await freePort(), 1)
  const address = { host, port: wanted.port }
  const other = createServer().listen({ ...address, reusePort: true })
  await once(other, 'listening')
  await expect(proxy.client.putEndpoint({ params, body: wanted })).rejects.toThrow('EADDRINUSE')
  await expect(proxy.client.putEndpoint({ params, body: wanted })).rejects.toThrow('EADDRINUSE')
  other.close()
  await until(async () => (await reportOf(params))?.state === 'serving')
  expect(proxy.log().match(/"endpoint cannot listen","id":"taken"/g)).toHaveLength(1)
  await expect(mustBeFree(address)).rejects.toThrow('EADDRINUSE')
  await mustBeAlone(address, WORKERS)
  // The kernel lets any process of the same user share the port.
  other.listen({ ...address, reusePort: true })
  await once(other, 'listening')
  await expect(mustBeAlone(address, WORKERS)).rejects.toThrow(`another proxy has ${host}:${address.port}`)
  other.close()
  await proxy.client.removeEndpoint({ params })
  await mustBeFree(address)
})

test('another certificate is shown to new clients in every worker', async () => {
  const params = { id: 'certificate' }
  await using stack = new AsyncDisposableStack()
  const engine = stack.use(await startEngine(newest))
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  const [first, second] = [certificateOf(folder, 'first'), certificateOf(folder, 'second')]
  await proxy.client.putEndpoint({ params, body: { ...wanted, tls: first } })
  const before = await dialTls(wanted.port, first.cert)
  await proxy.client.putEndpoint({ params, body: { ...wanted, tls: second } })
  const after = await Promise.all(Array.from({ length: 20 }, () => dialTls(wanted.port, second.cert)))
  expect(new Set(after.map((client) => client.shown()))).toEqual(new Set(['second']))
  for (const client of [before, ...after]) stack.use(client)
  await each([before, ...after], 'PING', '+PONG\r\n')
})

test('the shards keep most of the cores', () => {
  const cores = [1, 2, 4, 7, 8, 16, 128]
  expect(cores.map(countWorkers)).toEqual([1, 1, 1, 1, 2, 4, 4])
})

// invariant: A thread of the proxy that ends takes the whole proxy with it.
test('when a worker ends, the whole proxy ends, and logs it', async () => {
  const params = { id: 'ends' }
  await using stack = new AsyncDisposableStack()
  const engine = stack.use(await startEngine(newest))
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  const clients = await dialMany(wanted.port, stack)
  await each(clients, 'PING', '+PONG\r\n')
  const exited = once(proxy.process(), 'exit')
  await steer(2, 'end')
  expect(await exited).toEqual([1, null])
  await until(() => clients.every((client) => client.ended()))
  expect(proxy.log()).toContain('"what":"a worker has ended, and the proxy with it"')
  expect(proxy.log()).toMatch(/^Error: a worker of the proxy has ended: the test has ended this thread$/m)
})
