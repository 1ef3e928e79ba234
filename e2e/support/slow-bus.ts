import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { BUS_DISTANCE } from '../../packages/agent/src/engine/engine-config.ts'
import { asAdmin, specOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'

/**
 * From now on messages of other shards to this one on the cluster's bus arrive this many milliseconds later,
 * as happens when Nagle's algorithm meets delayed acknowledgements. Its own messages are not delayed.
 * `others`: shards that talk to it. Ends when the returned value is disposed of.
 */
export async function slowBusTo(
  fairlead: Fairlead,
  shard: number,
  { delayMs, others }: { readonly delayMs: number; readonly others: readonly number[] },
): Promise<AsyncDisposable> {
  const { host, port } = specOf(fairlead.home, shard)
  const sockets = new Set<Socket>()
  const relay = createServer((from) => {
    const to = connect({ host, port: port + BUS_DISTANCE, noDelay: true })
    for (const socket of [from, to]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        from.destroy()
        to.destroy()
      })
    }
    // Timers of equal length fire in the order in which they began.
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), delayMs))
    to.pipe(from)
  })
  await once(relay.listen(0, host), 'listening')
  const announced = (relay.address() as AddressInfo).port
  using admin = await asAdmin(fairlead, shard)
  await admin.call('CONFIG', 'SET', 'cluster-announce-bus-port', announced)
  for (const other of others) {
    using hears = await asAdmin(fairlead, other)
    await until(`shard ${other} takes the slow way to shard ${shard}`, async () => {
      const nodes = String(await hears.call('CLUSTER', 'NODES')).split('\n')
      return nodes.some((node) => node.includes(`:${port}@${announced}`) && node.includes(' connected'))
    })
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      relay.close()
      await once(relay, 'close')
    },
  }
}
