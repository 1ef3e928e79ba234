import {
  connectEngine,
  createEffect,
  type EngineConnection,
  EngineError,
  EngineUnreachable,
  readClusterNodes,
  replicationOf,
} from '@fairlead/engine'
import { expect, test } from 'vitest'
import { soonInSync } from '../../../../../../proof/spawn-engine.ts'
import { until } from '../../../../../../proof/until.ts'
import { moveRoleInCluster } from '../../../../src/reconcile/handover/move-role-in-cluster.ts'
import { createTakeovers } from '../../../../src/reconcile/turn/take-over.ts'
import { realTime } from '../../../../src/reconcile/turn/time.ts'
import { ADMIN_PASSWORD, builds, startTestEngine, type TestEngine } from '../../../engine.ts'
import { hasMoved } from '../../../has-moved.ts'
import { meet } from '../../../meet.ts'

const settings = [
  ...['cluster-enabled yes', 'cluster-node-timeout 5000', 'cluster-require-full-coverage no'],
  ...[...soonInSync, 'masteruser fairlead', `masterauth ${ADMIN_PASSWORD}`],
]
const everySlot = Array.from({ length: 16_384 }, (_, slot) => slot)
const effect = createEffect(() => undefined)

/**
 * Starts a primary with all slots, its replica, and a node without slots. The first two have the same,
 * highest epoch, because both raised theirs before they heard of each other: of two nodes with equal epochs,
 * the one with the lower id raises its epoch again, and wins.
 */
async function startGroup(build: (typeof builds)[number], lower: 'primary' | 'successor') {
  await using stack = new AsyncDisposableStack()
  const started = await Promise.all([0, 1, 2].map(() => startTestEngine(build, settings)))
  for (const engine of started) stack.use(engine)
  const ids = await Promise.all(started.slice(0, 2).map(idOf))
  const [one, other, beside] = started
  if (one === undefined || other === undefined || beside === undefined) throw new Error('there are three')
  const isOneLower = (ids[0] ?? '') < (ids[1] ?? '')
  const [primary, successor] = isOneLower === (lower === 'primary') ? [one, other] : [other, one]
  for (const [n, { admin }] of [primary, successor, beside].entries())
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1)
  await primary.admin.call('CLUSTER', 'ADDSLOTS', ...everySlot)
  for (const each of [successor, beside]) await introduce(primary, each)
  const id = await idOf(primary)
  await until('the successor follows', async () =>
    successor.admin.call('CLUSTER', 'REPLICATE', id).catch((cause: unknown) => {
      if (cause instanceof EngineError) return undefined
      throw cause
    }),
  )
  await until('the stream flows', async () => (await replicationOf(successor.admin)).link === 'up')
  await until('the primary knows its follower', async () =>
    (await viewOf(primary.admin)).some((node) => node.primary === id),
  )
  await until('it serves', async () =>
    String(await primary.admin.call('CLUSTER', 'INFO')).startsWith('cluster_state:ok'),
  )
  await until('their epochs are equal', async () => {
    const highest = Number(/\d+/.exec(String(await beside.admin.call('CLUSTER', 'BUMPEPOCH')))?.[0])
    for (const { admin } of [primary, successor])
      await until('both have heard of it', async () => (await epochOf(admin)) >= highest)
    const raised = await Promise.all(
      [primary, successor].map(({ admin }) => admin.call('CLUSTER', 'BUMPEPOCH')),
    )
    return raised[0] === raised[1] && raised[0] === `BUMPED ${highest + 1}`
  })
  const owned = stack.move()
  return { primary, successor, beside, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The highest epoch that it has heard of. */
async function epochOf(shard: EngineConnection): Promise<number> {
  return Number(/cluster_current_epoch:(\d+)/.exec(String(await shard.call('CLUSTER', 'INFO')))?.[1])
}

async function idOf({ admin }: TestEngine): Promise<string> {
  return String(await admin.call('CLUSTER', 'MYID'))
}

async function viewOf(shard: EngineConnection) {
  return readClusterNodes(String(await shard.call('CLUSTER', 'NODES')))
}

async function introduce(one: TestEngine, other: TestEngine): Promise<void> {
  const id = await idOf(other)
  await meet(one.admin, other.admin, async () => (await viewOf(one.admin)).some((node) => node.id === id))
}

/** A client that increments a counter on this shard until `isOver` or its end. Ignores refusals. */
async function countAt({ admin: { address } }: TestEngine, isOver: () => boolean) {
  const login = { username: 'fairlead', password: ADMIN_PASSWORD }
  const patience = { connectTimeoutMs: 20_000, commandTimeoutMs: 200_000 }
  const client = await connectEngine({ address, login, ...patience })
  const counted = { acknowledged: 0 }
  const work = (async () => {
    using _ = client
    while (!isOver())
      await client.call('INCR', 'counted').then(
        () => {
          counted.acknowledged += 1
        },
        (cause: unknown) => {
          if (!(cause instanceof EngineError)) throw cause
        },
      )
  })().catch((cause: unknown) => {
    if (!(cause instanceof EngineUnreachable)) throw cause
  })
  return { counted, work }
}

const ends = builds.filter((_, n) => n === 0 || n === builds.length - 1)
const cases = ends.flatMap((build) =>
  (['primary', 'successor'] as const).map((lower) => ({ ...build, build, lower })),
)

test.for(cases)(
  'the role moves from a primary to a replica of equal epoch, and each write that was acknowledged on the way is kept: $flavour $version, the $lower has the lower id',
  async ({ build, lower }) => {
    await using group = await startGroup(build, lower)
    const { primary, successor, beside } = group
    let isOver = false
    const clients = [await countAt(primary, () => isOver), await countAt(successor, () => isOver)]
    await until('clients write', async () => (clients[0]?.counted.acknowledged ?? 0) > 50)
    const move = () =>
      moveRoleInCluster(
        {
          primary: primary.admin,
          successor: successor.admin,
          others: [],
          build,
          errorReplies: 0,
          until: performance.now() + 1_500,
          orders: {
            give: () => undefined,
            refused: () => undefined,
            raiseEpoch: async () => void (await beside.admin.call('CLUSTER', 'BUMPEPOCH')),
          },
          takeClients: async () => null,
        },
        { effect, takeovers: createTakeovers(realTime), time: realTime },
      )
    await until('the role has moved', () => hasMoved(group, move))
    const before = clients[1]?.counted.acknowledged ?? 0
    await until('clients write on', async () => (clients[1]?.counted.acknowledged ?? 0) > before + 50)
    isOver = true
    await Promise.all(clients.map(({ work }) => work))
    expect((await replicationOf(successor.admin)).role).toBe('primary')
    expect((await replicationOf(primary.admin)).role).toBe('replica')
    const acknowledged = clients.reduce((sum, { counted }) => sum + counted.acknowledged, 0)
    expect(Number(await successor.admin.call('GET', 'counted'))).toBe(acknowledged)
  },
)
