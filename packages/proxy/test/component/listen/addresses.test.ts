import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { type RunningProxy, runProxy } from '../../run-proxy.ts'
import { freePort, makeEndpointSpec, newest, rawClient, startEngine, until } from '../../stage.ts'

const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')
const params = { id: 'db1' }

async function dialAt(host: string, port: number) {
  const socket = connect({ host, port })
  await once(socket, 'connect')
  return rawClient(socket)
}

/** A proxy with one endpoint, and a function that puts it with these further addresses. */
async function serve(stack: AsyncDisposableStack, workers: number) {
  const proxy = stack.use(await runProxy({ workers }))
  const engine = stack.use(await startEngine(newest))
  const spec = makeEndpointSpec(await freePort(), engine.port)
  const put = (also?: readonly string[]) =>
    proxy.client.putEndpoint({ params, body: { ...spec, ...(also && { also: [...also] }) } })
  return { proxy, put, port: spec.port }
}

async function missingOf({ client }: RunningProxy) {
  return (await client.reportProxy({})).endpoints[0]?.missing
}

/** True if a client at this address is answered. */
async function isServed(host: string, port: number): Promise<boolean> {
  try {
    await using client = await dialAt(host, port)
    await client.ask('PING', '+PONG\r\n')
    return true
  } catch {
    return false
  }
}

const others = ['127.0.0.2', ...(hasIPv6 ? ['::1'] : [])]

// invariant: A change of an endpoint's addresses closes no connection.
test.each([1, 2])(
  'an endpoint serves at further addresses, and a change of them closes no client: %i thread(s)',
  async (workers) => {
    await using stack = new AsyncDisposableStack()
    const { proxy, put, port } = await serve(stack, workers)
    await put()
    const local = stack.use(await dialAt('127.0.0.1', port))
    await local.ask('SET k v', '+OK\r\n')
    expect(await isServed('127.0.0.2', port)).toBe(false)

    expect((await put(others)).missing).toBeUndefined()
    const further = await Promise.all(others.map((host) => dialAt(host, port)))
    for (const each of further) await stack.use(each).ask('GET k', '$1\r\nv\r\n')
    const { clients } = await proxy.client.listClients({ params, query: { limit: 10 } })
    expect(clients).toHaveLength(1 + others.length)

    await put(['127.0.0.3'])
    expect(await isServed('127.0.0.3', port)).toBe(true)
    for (const host of others) expect(await isServed(host, port)).toBe(false)
    for (const each of [local, ...further]) await each.ask('GET k', '$1\r\nv\r\n')

    proxy.process().kill('SIGKILL')
    await proxy.start()
    expect(await isServed('127.0.0.3', port)).toBe(true)
    expect(await isServed('127.0.0.1', port)).toBe(true)
  },
)

test.each([1, 2])(
  'all addresses are served beside loopback, and clients stay when they come and go: %i thread(s)',
  async (workers) => {
    await using stack = new AsyncDisposableStack()
    const { put, port } = await serve(stack, workers)
    await put()
    const local = stack.use(await dialAt('127.0.0.1', port))
    await local.ask('PING', '+PONG\r\n')
    expect((await put(['0.0.0.0', ...(hasIPv6 ? ['::'] : [])])).missing).toBeUndefined()
    const further = await Promise.all(others.map((host) => dialAt(host, port)))
    for (const each of further) await stack.use(each).ask('PING', '+PONG\r\n')
    expect((await put([])).missing).toBeUndefined()
    for (const host of others) expect(await isServed(host, port)).toBe(false)
    expect(await isServed('127.0.0.1', port)).toBe(true)
    for (const each of [local, ...further]) await each.ask('PING', '+PONG\r\n')
  },
)

test('an address that is taken or not there is reported and tried again; the others are served', async () => {
  await using stack = new AsyncDisposableStack()
  const { proxy, put, port } = await serve(stack, 1)
  const squatter = createServer().listen({ host: '127.0.0.2', port })
  await once(squatter, 'listening')
  const { state, missing } = await put(['127.0.0.2', '127.0.0.3', '203.0.113.9'])
  expect(state).toBe('serving')
  expect(missing?.map(({ host }) => host)).toEqual(['127.0.0.2', '203.0.113.9'])
  expect(missing?.[0]?.why).toContain('EADDRINUSE')
  expect(missing?.[0]?.why).toContain(`a process of user ${process.getuid?.()} listens there`)
  expect(missing?.[1]?.why).toContain('EADDRNOTAVAIL')
  for (const host of ['127.0.0.1', '127.0.0.3']) expect(await isServed(host, port)).toBe(true)
  squatter.close()
  await until(async () => (await missingOf(proxy))?.length === 1)
  expect(await isServed('127.0.0.2', port)).toBe(true)
  await put(['127.0.0.2'])
  expect(await missingOf(proxy)).toBeUndefined()
})

test('where another process has one address, all addresses are missing, and loopback is served', async () => {
  await using stack = new AsyncDisposableStack()
  const { proxy, put, port } = await serve(stack, 1)
  const squatter = createServer().listen({ host: '127.0.0.2', port })
  await once(squatter, 'listening')
  expect((await put(['0.0.0.0'])).missing).toMatchObject([{ host: '0.0.0.0' }])
  expect(await isServed('127.0.0.1', port)).toBe(true)
  squatter.close()
  await until(async () => (await missingOf(proxy)) === undefined)
  expect(await isServed('127.0.0.3', port)).toBe(true)
})
