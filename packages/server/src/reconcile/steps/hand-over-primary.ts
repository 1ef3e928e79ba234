import { EngineUnreachable } from '@fairlead/engine'
import type { Database } from '../../core/state/database.ts'
import type { Handover } from '../../core/state/handover.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import type { ObservedGroup, Step } from '../../core/state/topology.ts'
import { hasUsers } from '../../core/users/database-users.ts'
import type { PreparedMove } from '../../nodes/open-move.ts'
import { carryScripts } from '../carry-over/carry-scripts.ts'
import { type CarryingPorts, carryToFollowers, laterSettings } from '../carry-over/carry-to-followers.ts'
import { type HoldingPorts, holdClients, prepareClients } from '../clients/endpoints.ts'
import { giveUpBlocked } from '../handover/give-up-blocked.ts'
import { handOver, type RoleToMove } from '../handover/hand-over.ts'
import { passGate } from '../handover/handover-gate.ts'
import { listenOnTheBus } from '../handover/messages-on-the-bus.ts'
import { whyNotMapped } from '../handover/slot-map-gate.ts'
import { countFullSyncs } from '../look/count-full-syncs.ts'
import { reportLowMemory } from '../records/report-low-memory.ts'
import { disableAutoRestart } from '../shards/disable-auto-restart.ts'
import { setLimits } from '../shards/keep-limits.ts'
import { toFollow } from '../shards/ports-of-shard.ts'
import type { MovingRole } from '../turn/engines.ts'
import type { Outcome } from '../turn/outcome.ts'
import type {
  Certifying,
  EndpointProxy,
  EngineConnections,
  NodeAgent,
  OrdersGiven,
  PassingTime,
  Preparing,
  TakingOver,
} from '../turn/ports.ts'
import type { Pending, Prepared } from '../turn/preparations.ts'
import { member, type StepContext } from '../turn/step-context.ts'
import { raiseEpoch } from './raise-epoch.ts'
import { type RecordingPorts, recordHandover } from './record-handover.ts'

type HandoverStep = Extract<Step, { kind: 'hand-over' }>
type HandoverContext = StepContext<HandoverStepPorts>
/** Ports of this step, from its preparations to its record. */
export type HandoverStepPorts = RecordingPorts &
  CarryingPorts &
  HoldingPorts &
  EndpointProxy<'giveUpBlocked' | 'prepareEndpoint' | 'takeScripts'> &
  EngineConnections<'connect' | 'tryOn' | 'listen' | 'newestClient' | 'prepareMove'> &
  NodeAgent<'putShard'> &
  Certifying<'shards'> &
  Preparing &
  OrdersGiven<'give' | 'refused'> &
  PassingTime &
  TakingOver

/**
 * Moves the primary role from `from` to `to` without losing an acknowledged write: demote first, then
 * promote. Measurements and reasons: docs/explain/measurements/handover.md.
 * 1. Preparation, concurrent with the turns (preparations.ts), because it stops nothing and takes the
 *    longest. The stream really flows to the successor and its siblings. Run-time users and settings are
 *    carried over, clients of the endpoint get connections to the successor, and it gets their scripts. The
 *    turn that completes this checks gates, users and settings again; in cluster mode also that the group
 *    knows the successor, and the successor the slot map.
 * 2. The intent is recorded.
 * 3. Many blocking commands are ended (give-up-blocked.ts). Clients are held at the endpoint until all
 *    requests are answered, in cluster mode also until the successor has received their published messages.
 *    Then the pause: writes of clients that connect to the shard directly wait at the primary.
 * 4. Equality: every follower has the primary's offset and number of keys. If that takes too long, the pause
 *    ends and nothing has changed.
 * 5. The role moves (move-role.ts, move-role-in-cluster.ts): demote, then promote. The write stop ends, and
 *    the endpoint takes its clients to the successor.
 * 6. The new primary is recorded, with the certificate; siblings follow it; the old primary releases its
 *    clients.
 */
export async function handOverPrimary(step: HandoverStep, context: HandoverContext): Promise<Outcome> {
  const { database, members, ports } = context
  const of = (id: number) => ports.engines.connect(database, member(id, { members }))
  const [primary, successor] = [await of(step.from), await of(step.to)]
  const siblings = members.filter(({ id }) => id !== step.from && id !== step.to)
  const others = await Promise.all(siblings.map(({ id }) => of(id)))

  const whyUnmapped = async () =>
    database.cluster ? await whyNotMapped(primary, successor, others) : undefined
  // Done first: it may take seconds, and other groups can be prepared during them.
  const unmapped = await whyUnmapped()
  if (unmapped !== undefined) return { kind: 'not yet', ...unmapped }

  // The name contains the processes: a new process has none of the former one's preparations.
  const runs = [step.from, step.to].map((id) => engineOf(id, context.seen)?.runId ?? null)
  const what = `handover of ${database.uid} from ${step.from} to ${step.to}, processes ${runs.join(' and ')}`
  const ask = () =>
    ports.preparations.ask({ databaseUid: database.uid, what }, (signal) =>
      prepare(step, { primary, successor, others }, { ...context, signal }),
    )
  let prepared = ask()
  while (isPending(prepared) && ports.time.elapsed() < context.moves.waitUntil && !context.signal.aborted) {
    await ports.preparations.change(context.moves.waitUntil - ports.time.elapsed())
    prepared = ask()
  }
  if (isPending(prepared)) return { ...prepared, kind: 'not yet' }
  if (prepared !== 'ready') return prepared
  // Not while writes are stopped: the agent reads the shard again for it, and the tunnels between server and
  // engines would be slower.
  await disableAutoRestart(member(step.to, { members }), context)
  const [fullSyncsBefore, gate] = await Promise.all([
    countFullSyncs(database, members, ports),
    passGate(primary, [successor, ...others], namedIn(members), ports.time, context.signal),
  ])
  if (gate !== undefined) return { kind: 'not yet', ...gate }
  return context.moves.runExclusive(async () => {
    ports.preparations.end(what)
    const still = await whyUnmapped()
    if (still !== undefined) return { kind: 'not yet', ...still }
    return recordAndMove(step, { primary, successor, others, fullSyncsBefore }, context)
  })
}

/** Says why the users of the database could not sign in to the successor; undefined: they can. */
function usersMissing(to: number, database: Database, seen: ObservedGroup): string | undefined {
  const shard = seen.shards.find(({ id }) => id === to)
  if (shard === undefined || hasUsers(database, { build: shard.wanted.build, users: shard.users ?? null }))
    return undefined
  return `shard ${to} does not have all users of the database yet`
}

/** Names a shard for people, from its port. */
function namedIn(members: HandoverContext['members']): (port: number) => string {
  return (port) => {
    const shard = members.find((one) => one.port === port || one.tlsPort === port)
    return shard === undefined
      ? `a replica at port ${port}, which is no shard of the group,`
      : `shard ${shard.id}`
  }
}

function isPending(prepared: Prepared | Pending): prepared is Pending {
  return prepared !== 'ready' && prepared.kind === 'pending'
}

type Roles = Pick<RoleToMove, 'primary' | 'successor' | 'others'>

/** Does most of step 1. Nothing is stopped or changed if it ends here. */
async function prepare(
  step: HandoverStep,
  { primary, successor, others }: Roles,
  { database, members, action, ports, group, seen, signal }: HandoverContext,
): Promise<Prepared> {
  const gate = await passGate(primary, [successor, ...others], namedIn(members), ports.time, signal)
  if (gate !== undefined) return { kind: 'not yet', ...gate }
  const old = member(step.from, { members })
  const followers = members.filter(({ id }) => id !== step.from)
  const missing = await carryToFollowers({ database, primary: old, followers, action }, ports)
  if (missing !== undefined) return { kind: 'hopeless', ...missing }
  const late = usersMissing(step.to, database, seen)
  if (late !== undefined) return { kind: 'not yet', code: 'users', why: late }
  // Their backlogs may just have been raised.
  for (const follower of [successor, ...others]) await setLimits(follower, seen.limits, ports)
  await reportLowMemory(step, { seen, action, ports })
  const unreachable = await prepareClients(database, group, successor.address, ports)
  if (unreachable !== undefined) {
    const why = `shard ${step.to} takes no clients of the endpoint: ${unreachable}`
    return { kind: 'not yet', code: 'clients_refused', why }
  }
  await carryScripts(database, successor, { all: true }, ports)
  return 'ready'
}

/** Does steps 2 to 6. */
async function recordAndMove(
  step: HandoverStep,
  { primary, successor, others, fullSyncsBefore }: Roles & Pick<Handover, 'fullSyncsBefore'>,
  context: HandoverContext,
): Promise<Outcome> {
  const { database, members, seen, ports, group, action } = context
  const followers = members.filter(({ id }) => id !== step.from)
  const settings = await laterSettings(
    { database, primary: member(step.from, context), followers, action },
    step.to,
    ports,
  )
  const ours = { databaseUid: database.uid, group }
  using bus = await listenOnTheBus(step, primary, context)
  const siblings = followers.filter(({ id }) => id !== step.to)
  const { build } = member(step.from, { members }).runs
  const errorReplies = engineOf(step.to, seen)?.errorReplies ?? 0
  const shards = { from: step.from, to: step.to, others: siblings.map(({ id }) => id) }
  const prepared = database.cluster ? null : await prepareMove(shards, context)
  if (prepared !== null && 'why' in prepared) return { kind: 'not yet', ...prepared }
  using move = prepared
  return await handOver(
    {
      primary,
      successor,
      others,
      group,
      from: step.from,
      to: step.to,
      inCluster: database.cluster,
      build,
      errorReplies,
      successorRecord: toFollow(step.to, context),
      orders: {
        give: () => ports.ordersToServe.give(ours),
        refused: () => ports.ordersToServe.refused(ours),
        raiseEpoch: () => raiseEpoch(step.to, context),
      },
    },
    {
      effect: ports.effect,
      takeovers: ports.takeovers,
      move: move && {
        order: (terms, orders) => move.order({ ...terms, build, errorReplies }, orders),
        follow: () => move.follow(),
      },
      now: ports.now,
      time: ports.time,
      clients: {
        giveUpBlocked: () => giveUpBlocked(database, group, { id: step.from, connection: primary }, ports),
        hold: () => holdClients(database, group, successor.address, ports),
        messagesArrived: async () => bus?.arrived(),
        carryScripts: () => carryScripts(database, successor, { all: false }, ports),
      },
      settings,
      record: recordHandover(step, fullSyncsBefore, context),
    },
  )
}

/** Returns an obstacle if a shard takes no new connection: its `maxclients` may be reached. */
async function prepareMove(
  shards: MovingRole,
  { database, ports }: HandoverContext,
): Promise<PreparedMove | Obstacle> {
  try {
    return await ports.engines.prepareMove(database, shards)
  } catch (cause) {
    if (!(cause instanceof EngineUnreachable)) throw cause
    return { code: 'shard_silent', why: `a shard takes no new connection: ${cause.message}` }
  }
}

function engineOf(shard: number, { shards }: ObservedGroup) {
  return shards.find(({ id }) => id === shard)?.engine
}
