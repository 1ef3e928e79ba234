import { EngineError } from '@fairlead/engine'
import { isLive, type Step } from '../../core/state/topology.ts'
import { ifItAnswers } from '../turn/engines.ts'
import type { Outcome } from '../turn/outcome.ts'
import { type CommandContext, command, member, type StepContext } from '../turn/step-context.ts'

const done: Outcome = { kind: 'done' }

/** Makes a shard follow a primary, named by its node id in cluster mode. */
export async function followInCluster(
  shard: number,
  primary: number,
  context: CommandContext,
): Promise<Outcome> {
  const { database, ports, everybody } = context
  const connection = await ports.engines.connect(database, member(primary, { members: everybody }))
  return command(shard, context, 'CLUSTER', 'REPLICATE', String(await connection.call('CLUSTER', 'MYID')))
}

/** Sends the greetings. Other shards learn of the new one by gossip. */
export async function meetInCluster(
  { greetings, why }: Extract<Step, { kind: 'meet' }>,
  context: CommandContext,
): Promise<Outcome> {
  await Promise.all(
    greetings.map(({ by, to }) => {
      const { host, port } = member(to, { members: context.everybody })
      return command(by, context, 'CLUSTER', 'MEET', host, String(port))
    }),
  )
  return { kind: 'not yet', code: 'cluster_view', why }
}

/**
 * Assigns all slots in one command, which every version supports. First it sets an epoch, while the node
 * knows no other (later the engine refuses). Nodes with equal epochs raise theirs when they hear of each
 * other, and joining nodes begin with 0: a primary with 0 could raise its epoch at the same time as a
 * replica, to the same number.
 */
export async function assignSlots(
  { shard, slots }: Extract<Step, { kind: 'assign-slots' }>,
  context: CommandContext,
): Promise<Outcome> {
  const numbers = Array.from({ length: slots.last - slots.first + 1 }, (_, n) => String(slots.first + n))
  const epoch = String(member(shard, { members: context.everybody }).group + 1)
  await command(shard, context, 'CLUSTER', 'SET-CONFIG-EPOCH', epoch).catch((cause: unknown) => {
    if (!(cause instanceof EngineError)) throw cause
  })
  return command(shard, context, 'CLUSTER', 'ADDSLOTS', ...numbers)
}

/**
 * Makes all shards forget the node. For one minute they do not mention it to each other, so all must do it
 * within that time. A shard that has ended or no longer knows it has nothing to forget.
 */
export async function forgetNode(
  { node, shards }: Extract<Step, { kind: 'forget-node' }>,
  context: CommandContext,
): Promise<Outcome> {
  await Promise.all(
    shards.map((shard) =>
      ifItAnswers(() => command(shard, context, 'CLUSTER', 'FORGET', node)).catch((cause: unknown) => {
        if (!(cause instanceof EngineError && /unknown node/i.test(cause.message))) throw cause
      }),
    ),
  )
  return done
}

/**
 * Makes the others forget a follower while its process ends.
 * 1. Each engine tries ten times a second to reach each known node that is gone, with a TLS handshake. 64
 *    that ended at the same time left clients a twentieth of their writes, until all were forgotten. The plan
 *    forgets the rest (core/plan/plan-cluster.ts).
 * 2. The follower must not forget the others. For a minute an engine announces with each ping what it was
 *    ordered to forget (Redis since 7.2, Valkey); each node that knows the sender obeys and announces it,
 *    too. Valkey 8.1 introduces itself again to those that forgot it. When its process took 12 s to end, all
 *    primaries forgot each other.
 */
export async function forgetFollower(
  id: number,
  context: CommandContext & Pick<StepContext<unknown>, 'seen'>,
): Promise<void> {
  const live = context.seen.shards.filter(isLive)
  const engine = live.find((shard) => shard.id === id)?.engine
  const node = engine?.cluster?.id
  const isKnown = live.some(
    (shard) => shard.id !== id && shard.engine.cluster?.nodes.some((one) => one.id === node),
  )
  if (node === undefined || engine?.role !== 'replica' || !isKnown) return
  const others = context.everybody.filter((shard) => shard.id !== id)
  await Promise.all(
    others.map((shard) =>
      ifItAnswers(() => command(shard.id, context, 'CLUSTER', 'FORGET', node)).catch((cause: unknown) => {
        if (!(cause instanceof EngineError)) throw cause
      }),
    ),
  )
}
