import { EngineError } from '@fairlead/engine'
import { isLive, type Step } from '../../core/state/topology.ts'
import { ifItAnswers } from '../turn/engines.ts'
import type { Outcome } from '../turn/outcome.ts'
import { command, member, type Scene } from '../turn/scene.ts'

const done: Outcome = { kind: 'done' }

/** In cluster mode a primary is named by its node id. */
export async function followInCluster(shard: number, primary: number, scene: Scene): Promise<Outcome> {
  const { database, deps, everybody } = scene
  const connection = await deps.engines.connect(database, member(primary, { members: everybody }))
  return command(shard, scene, 'CLUSTER', 'REPLICATE', String(await connection.call('CLUSTER', 'MYID')))
}

/** Others learn of it by gossip. */
export async function meetInCluster(
  { greetings, why }: Extract<Step, { kind: 'meet' }>,
  scene: Scene,
): Promise<Outcome> {
  await Promise.all(
    greetings.map(({ by, to }) => {
      const { host, port } = member(to, { members: scene.everybody })
      return command(by, scene, 'CLUSTER', 'MEET', host, String(port))
    }),
  )
  return { kind: 'not yet', code: 'cluster_view', why }
}

/** One command for all of its slots, which every version understands. */
export async function assignSlots(
  { shard, slots }: Extract<Step, { kind: 'assign-slots' }>,
  scene: Scene,
): Promise<Outcome> {
  const numbers = Array.from({ length: slots.last - slots.first + 1 }, (_, n) => String(slots.first + n))
  return command(shard, scene, 'CLUSTER', 'ADDSLOTS', ...numbers)
}

/**
 * Everybody forgets it within the minute in which they do not let each other remember. Who has ended meanwhile, or knows nothing of
 * it any more, has nothing to forget.
 */
export async function forgetNode(
  { node, shards }: Extract<Step, { kind: 'forget-node' }>,
  scene: Scene,
): Promise<Outcome> {
  await Promise.all(
    shards.map((shard) =>
      ifItAnswers(() => command(shard, scene, 'CLUSTER', 'FORGET', node)).catch((cause: unknown) => {
        if (!(cause instanceof EngineError && /unknown node/i.test(cause.message))) throw cause
      }),
    ),
  )
  return done
}

/**
 * The others forget a follower before its process ends, and it forgets them: each engine tries to reach each node that it knows and that is gone ten
 * times a second, and makes the beginnings of TLS for it. 64 that were gone at once left clients a twentieth of their writes, for as long
 * as all were not forgotten. Whom it follows, an engine does not forget; what is left is for the plan (core/plan/plan-cluster.ts).
 */
export async function forgetFollower(id: number, scene: Scene): Promise<void> {
  const live = scene.seen.shards.filter(isLive)
  const engine = live.find((shard) => shard.id === id)?.engine
  const node = engine?.cluster?.id
  const isKnown = live.some(
    (shard) => shard.id !== id && shard.engine.cluster?.nodes.some((one) => one.id === node),
  )
  if (node === undefined || engine?.role !== 'replica' || !isKnown) return
  const forget = (shard: number, gone: string) =>
    ifItAnswers(() => command(shard, scene, 'CLUSTER', 'FORGET', gone)).catch((cause: unknown) => {
      if (!(cause instanceof EngineError)) throw cause
    })
  const nodes = engine.cluster?.nodes ?? []
  await Promise.all([
    ...scene.everybody.filter((shard) => shard.id !== id).map((shard) => forget(shard.id, node)),
    ...nodes.filter((one) => one.id !== node && !one.handshake).map((one) => forget(id, one.id)),
  ])
}
