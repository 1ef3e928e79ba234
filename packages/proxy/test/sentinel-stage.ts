import { runProxy } from './run-proxy.ts'
import { freePort, makeEndpointSpec, makePair } from './stage.ts'

const host = '127.0.0.1'
/** The id of the endpoint at its proxy. */
export const params = { id: 'bdb-1' }

/**
 * A pair whose endpoint is that of a proxy with a Sentinel answerer, and what moves the role with all its
 * clients.
 */
export async function stageSwitch() {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair())
  const sentinelPort = await freePort()
  const proxy = stack.use(await runProxy({ sentinelPort }))
  const wanted = {
    ...makeEndpointSpec(await freePort(), pair.a.port),
    name: 'orders',
    replicas: [{ host, port: pair.b.port }],
  }
  await proxy.client.putEndpoint({ params, body: wanted })
  const owned = stack.move()
  return {
    pair,
    proxy,
    wanted,
    sentinelPort,
    async switchRole() {
      await proxy.client.holdEndpoint({ params, body: { deadlineMs: 5_000 } })
      await pair.moveRole()
      const upstream = { host, port: pair.primary().port }
      await proxy.client.switchEndpoint({ params, body: { upstream } })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
