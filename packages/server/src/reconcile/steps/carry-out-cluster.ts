import { EngineError } from '@fairlead/engine'
import { isLive, type Step } from '../../core/state/topology.ts'
import { ifItAnswers } from '../turn/engines.ts'
import type { Outcome } from '../turn/outcome.ts'
import { type CommandContext, command, member, type StepContext } from '../turn/step-context.ts'

const done: Outcome = { kind: 'done' }

/** In cluster mode a primary is named by its node id. */
export async function followInCluster(
  shard: number,
  primary: number,
  context: CommandContext,
): Promise<Outcome> {
  const { database, ports, everybody } = context
  const connection = await ports.engines.connect(database, member(primary, { members: everybody }))
  return command(shard, context, 'CLUSTER', 'REPLICATE', String(await connection.call('CLUSTER', 'MYID')))
}

/** The other shards learn of it by gossip. */
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
 * One command for all of its slots, which every version understands.
 *
 * Before that an epoch of its own, while it knows no other node (the engine refuses later). Nodes with equal epochs raise theirs one by one, whenever they hear of each other,
 * and each node that joins begins with 0: a primary with 0 would raise its epoch then, perhaps at the moment at which a replica raises its own to the same number.
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
 * All shards forget the node within one minute: during that minute they do not tell each other about it. A shard that has ended
 * meanwhile, or does not know it any more, has nothing to forget.
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
 * The others forget a follower while its process ends: each engine tries ten times a second to reach each
 * node that it knows and that is gone, and starts a TLS handshake for it. 64 that ended at once left clients
 * a twentieth of their writes, until all were forgotten. The plan forgets the rest
 * (core/plan/plan-cluster.ts).
 *
 * The follower must not forget the others. For a minute an engine announces with each ping what it was told
 * to forget (redis since 7.2, valkey), and each node that knows the sender obeys and announces it, too;
 * valkey 8.1 makes itself known again to those that forgot it. When its process took 12 s to end, all
 * primaries forgot each other.
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
