import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EndpointSpec } from '@fairlead/api'
import { passwordDigest } from '@fairlead/engine'
import { beforeAll, expect, test } from 'vitest'
import { PLACE_ENDED } from '../../../src/listen/listen.ts'
import { runProxy } from '../../run-proxy.ts'
import { dial, freePort, makeEndpointSpec, newest, startEngine, until } from '../../stage.ts'
import { certificateOf, dialTls } from '../../tls-stage.ts'

const params = { id: 'db1' }
let tls: NonNullable<EndpointSpec['tls']>

beforeAll(async () => {
  tls = certificateOf(await mkdtemp(join(tmpdir(), 'former-')), 'one')
})

/** A proxy with one endpoint, and a function that puts it with changed fields. */
async function serve(
  stack: AsyncDisposableStack,
  kind: { readonly workers: number; readonly sharded: boolean },
) {
  const proxy = stack.use(await runProxy({ workers: kind.workers }))
  const engine = stack.use(await startEngine(newest, ...(kind.sharded ? ['--cluster-enabled', 'yes'] : [])))
  if (kind.sharded) await engine.admin('CLUSTER ADDSLOTSRANGE 0 16383')
  if (kind.sharded) await until(async () => (await engine.admin('CLUSTER INFO')).includes('cluster_state:ok'))
  const plain = makeEndpointSpec(await freePort(), engine.port)
  const spec = kind.sharded
    ? { ...plain, shards: [{ first: 0, last: 16_383, upstream: plain.upstream }] }
    : plain
  const put = (changed: Partial<EndpointSpec> = {}) =>
    proxy.client.putEndpoint({ params, body: { ...spec, ...changed } })
  await put()
  return { proxy, engine, put, port: spec.port }
}

async function isServed(port: number): Promise<boolean> {
  try {
    await using client = await dial(port)
    await client.ask('PING', '+PONG\r\n')
    return true
  } catch {
    return false
  }
}

const kinds = [1, 2].flatMap((workers) => [false, true].map((sharded) => ({ workers, sharded })))

// invariant: A change of an endpoint's port closes no connection before the end of the former port.
test.each(kinds)(
  'an endpoint moves to another port: both serve, and the clients of the former one are closed when it ends: $workers thread(s), sharded: $sharded',
  async (kind) => {
    await using stack = new AsyncDisposableStack()
    const { proxy, put, port } = await serve(stack, kind)
    const old = stack.use(await dial(port))
    await old.ask('SET k v', '+OK\r\n')
    const next = await freePort()
    const former = [{ port, tls: null }]
    const report = await put({ port: next, former })
    expect(report).toMatchObject({ port: next, former: [{ port, tls: false, connections: 1 }] })
    const late = stack.use(await dial(port))
    const fresh = stack.use(await dial(next))
    for (const client of [old, late, fresh]) await client.ask('GET k', '$1\r\nv\r\n')
    expect((await put({ port: next, former })).former).toMatchObject([{ connections: 2 }])

    await put({ port: next })
    await Promise.all([old, late].map((client) => until(() => client.socket.destroyed)))
    for (const client of [old, late]) expect(client.text()).not.toContain('-')
    expect(await isServed(port)).toBe(false)
    await fresh.ask('GET k', '$1\r\nv\r\n')
    expect(proxy.log().split(PLACE_ENDED)).toHaveLength(3)
  },
)

test.each(kinds)(
  'an endpoint begins to speak TLS: at its one port both kinds of clients are served until the former one ends: $workers thread(s), sharded: $sharded',
  async (kind) => {
    await using stack = new AsyncDisposableStack()
    const { put, port } = await serve(stack, kind)
    const plain = stack.use(await dial(port))
    await plain.ask('SET k v', '+OK\r\n')
    await put({ tls, former: [{ port, tls: null }] })
    const secured = stack.use(await dialTls(port, tls.cert))
    for (const client of [plain, stack.use(await dial(port)), secured])
      await client.ask('GET k', '$1\r\nv\r\n')
    await put({ tls })
    await until(() => plain.socket.destroyed)
    expect(await isServed(port)).toBe(false)
    await secured.ask('GET k', '$1\r\nv\r\n')
    // And back, again with both.
    await put({ former: [{ port, tls }] })
    for (const client of [secured, stack.use(await dialTls(port, tls.cert)), stack.use(await dial(port))])
      await client.ask('GET k', '$1\r\nv\r\n')
  },
)

test('a client with a request under way is closed after its reply, and a silent one at once', async () => {
  await using stack = new AsyncDisposableStack()
  const { put, port } = await serve(stack, { workers: 1, sharded: false })
  const [busy, silent] = [stack.use(await dial(port)), stack.use(await dial(port))]
  await silent.ask('PING', '+PONG\r\n')
  busy.send('BLPOP list 2\r\n')
  await put({ port: await freePort() })
  await until(() => silent.socket.destroyed)
  expect(busy.socket.destroyed).toBe(false)
  await until(() => busy.socket.destroyed)
  expect(busy.text()).toBe('*-1\r\n')
})

test('a new port that is taken is reported and tried again; the former one serves meanwhile, and the file says the same after a crash', async () => {
  await using stack = new AsyncDisposableStack()
  const { proxy, put, port } = await serve(stack, { workers: 2, sharded: false })
  const old = stack.use(await dial(port))
  await old.ask('SET k v', '+OK\r\n')
  const squatter = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(squatter, 'listening')
  const next = (squatter.address() as { port: number }).port
  const spec = { port: next, former: [{ port, tls: null }] }
  const { missing } = await put(spec)
  expect(missing).toMatchObject([{ port: next }])
  await old.ask('GET k', '$1\r\nv\r\n')
  expect(await isServed(port)).toBe(true)
  squatter.close()
  await until(() => isServed(next))
  proxy.process().kill('SIGKILL')
  await proxy.start()
  await until(() => isServed(next))
  await until(() => isServed(port))
})

// invariant: At the end of a password exactly the clients that signed in with it are closed.
test.each(kinds)(
  'at the end of a password exactly its clients are closed: $workers thread(s), sharded: $sharded',
  async (kind) => {
    await using stack = new AsyncDisposableStack()
    const { engine, put, port } = await serve(stack, kind)
    await engine.admin('ACL SETUSER default resetpass >one >two')
    const [one, two] = [passwordDigest('one'), passwordDigest('two')]
    await put({ passwords: [one, two] })
    const clients = await Promise.all(['one', 'two', 'default one', 'default two'].map(() => dial(port)))
    const [old, fresh, named, other] = clients.map((client) => stack.use(client))
    const logins = [
      [old, 'AUTH one'],
      [fresh, 'AUTH two'],
      [named, 'AUTH default one'],
      [other, 'AUTH default two'],
    ] as const
    for (const [client, login] of logins) await client?.ask(login, '+OK\r\n')
    await put({ passwords: [two] })
    for (const client of [old, named]) await until(() => client?.socket.destroyed === true)
    for (const client of [fresh, other]) await client?.ask('SET k v', '+OK\r\n')
  },
)
