import { join } from 'node:path'
import type { EngineConnection } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { whyNotMapped } from '../../../packages/server/src/reconcile/handover/slot-map-gate.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { asAdmin, specOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const groups = 3
/** The surge shard of the first group: it comes after three primaries with a replica each. */
const successor = 2 * groups + 1

/**
 * A sharded database during an upgrade: the surge shard of the first group has just been told which primary
 * to follow, and the server, which would wait for gossip now, is dead. Shards 1 to 3 are the primaries, 4 to
 * 6 their replicas.
 */
async function withUngatedSuccessor(): Promise<Fairlead> {
  const fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
  })
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: {
      name: 'mapped',
      memory_size: 0,
      replication: true,
      shards_count: groups,
      ...(groups > 1 && { oss_cluster: true }),
      engine_version: build('valkey', '8.0'),
    },
  })
  await fairlead.untilEnded(action_uid)
  await fairlead.server.end('SIGTERM')
  await fairlead.server.start({ CRASH_WHEN: 'after cluster replicate' })
  const body = { engine_version: build('valkey', '8.1') }
  await fairlead.api.upgradeDatabase({ params: { uid }, body }).catch(() => undefined)
  await fairlead.server.ended
  return fairlead
}

/**
 * Asks the gate as the reconciler would, with engines that do not change meanwhile: the primary of the first
 * group, the successor, and its sibling.
 */
function askGate(connections: ReadonlyMap<number, EngineConnection>) {
  const of = (id: number) => connectionOf(connections, id)
  return whyNotMapped(of(1), of(successor), [of(1 + groups)])
}

function connectionOf(connections: ReadonlyMap<number, EngineConnection>, id: number): EngineConnection {
  const connection = connections.get(id)
  if (connection === undefined) throw new Error(`there is no shard ${id}`)
  return connection
}

async function connectAll(fairlead: Fairlead, owned: DisposableStack) {
  const connections = new Map<number, EngineConnection>()
  for (let id = 1; id <= successor; id += 1) connections.set(id, owned.use(await asAdmin(fairlead, id)))
  return connections
}

// invariant: In cluster mode the whole group knows the successor before it takes over.
test('the gate opens for a successor once gossip has reached all, and is closed, with the reason, when the group does not know the successor', async () => {
  await using fairlead = await withUngatedSuccessor()
  using owned = new DisposableStack()
  const connections = await connectAll(fairlead, owned)
  await until('the gate is open', async () => (await askGate(connections)) === undefined)

  const sibling = connectionOf(connections, 1 + groups)
  const id = await connectionOf(connections, successor).call('CLUSTER', 'MYID')
  await sibling.call('CLUSTER', 'FORGET', String(id))
  const { port } = specOf(fairlead.home, successor)
  expect(await askGate(connections)).toEqual({
    code: 'cluster_view',
    why: expect.stringContaining(` port ${port} `),
  })
})
