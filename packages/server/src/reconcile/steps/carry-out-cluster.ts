import { EngineError } from '@fairlead/engine'
import type { Step } from '../../core/state/topology.ts'
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
