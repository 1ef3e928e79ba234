import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient, EPOCH_HEADER, proxyOperations } from '@fairlead/api'
import { expect, test } from 'vitest'
import { sendHead } from '../../../../../proof/half-sent.ts'
import { runProxy, socketTransport } from '../../run-proxy.ts'
import { dial, freePort, makeEndpointSpec, newest, startEngine } from '../../stage.ts'

const stale = { status: 412, code: 'stale_epoch' }

// invariant: A proxy refuses orders of a server that was replaced.
test('orders of a lower epoch are refused, by the next proxy too, and clients do not notice them', async () => {
  await using proxy = await runProxy()
  await using engine = await startEngine(newest)
  await using elsewhere = await startEngine(newest)
  const transport = socketTransport(join(proxy.home, 'proxy.sock'))
  /** A client that names an epoch with each request. */
  const under = (epoch: string) =>
    createClient(proxyOperations, (request) =>
      transport({ ...request, headers: { ...request.headers, [EPOCH_HEADER]: epoch } }),
    )
  const params = { id: 'bdb-1' }
  const spec = makeEndpointSpec(await freePort(), engine.port)
  const upstream = { host: '127.0.0.1', port: elsewhere.port }
  const refused = async () => {
    const old = under('1:4')
    const orders = [
      () => old.putEndpoint({ params, body: { ...spec, upstream } }),
      () => old.holdEndpoint({ params, body: { deadlineMs: 60_000 } }),
      () => old.switchEndpoint({ params, body: { upstream } }),
      () => old.releaseEndpoint({ params, body: {} }),
      () => old.prepareEndpoint({ params, body: { upstream } }),
      () => old.giveUpBlocked({ params, body: {} }),
      () => old.takeScripts({ params, body: { upstream, all: true } }),
      () => old.removeEndpoint({ params }),
      () => old.reportProxy({}),
      // A server that does not know epochs cannot know whether it has been replaced.
      () => proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000 } }),
    ]
    for (const order of orders) await expect(order()).rejects.toMatchObject(stale)
    await using client = await dial(spec.port)
    await client.ask('PING', '+PONG\r\n')
    expect((await proxy.client.reportProxy({})).endpoints).toMatchObject([
      { state: 'serving', upstream: { port: engine.port }, repoints: 0 },
    ])
  }
  await proxy.client.putEndpoint({ params, body: spec })
  await under('1:5').putEndpoint({ params, body: spec })
  expect(JSON.parse(await readFile(join(proxy.home, 'epochs.json'), 'utf8'))).toEqual({ '1': 5 })
  await refused()
  proxy.process().kill('SIGKILL')
  await proxy.start()
  await refused()
  await under('2:1').removeEndpoint({ params: { id: 'bdb-2' } })
  expect(await under('1:5').holdEndpoint({ params, body: { deadlineMs: 60_000 } })).toMatchObject({
    drained: true,
  })
})

test('an order is not carried out if its server was replaced before the body arrived', async () => {
  await using proxy = await runProxy()
  await using engine = await startEngine(newest)
  await using elsewhere = await startEngine(newest)
  const socket = join(proxy.home, 'proxy.sock')
  const under = (epoch: string) =>
    createClient(proxyOperations, (request) =>
      socketTransport(socket)({ ...request, headers: { ...request.headers, [EPOCH_HEADER]: epoch } }),
    )
  const params = { id: 'bdb-1' }
  await under('1:4').putEndpoint({ params, body: makeEndpointSpec(await freePort(), engine.port) })
  const { method, path } = proxyOperations.switchEndpoint
  const upstream = { host: '127.0.0.1', port: elsewhere.port }
  const order = { method, path: path.replace(':id', 'bdb-1') }
  const late = await sendHead(socket, order, { [EPOCH_HEADER]: '1:4' }, { upstream })
  await under('1:4').reportProxy({})
  await under('1:5').reportProxy({})
  expect(await late.finish()).toBe(412)
  expect((await proxy.client.reportProxy({})).endpoints).toMatchObject([{ upstream: { port: engine.port } }])
})
