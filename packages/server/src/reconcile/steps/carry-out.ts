import { fence, readInfo } from '@fairlead/engine'
import { revisionOf } from '../../core/state/goal.ts'
import type { Step } from '../../core/state/topology.ts'
import { carryScripts } from '../carry-over/carry-scripts.ts'
import { prepareToFollow } from '../handover/prepare-to-follow.ts'
import { type ReportingPorts, reportEmptyStart, reportPromotionLoss } from '../records/report-data-loss.ts'
import { disableAutoRestart } from '../shards/disable-auto-restart.ts'
import { toFollow } from '../shards/ports-of-shard.ts'
import { done, type Outcome } from '../turn/outcome.ts'
import type { EndpointProxy, HandoverRecords, OrdersGiven } from '../turn/ports.ts'
import { command, member, type StepContext } from '../turn/step-context.ts'
import { ORDER_WITHIN_MS, readClock } from '../turn/take-over.ts'
import { assignSlots, followInCluster, forgetNode, meetInCluster } from './carry-out-cluster.ts'
import {
  addShard,
  endProcess,
  recordFollows,
  restartPrimary,
  restartShard,
  retireShard,
  type ShardPorts,
  startShard,
} from './carry-out-shards.ts'
import { type HandoverStepPorts, handOverPrimary } from './hand-over-primary.ts'
import { afterRefusal } from './raise-epoch.ts'
import { type ReleasingPorts, releaseHandover, type SealingPorts, sealHandover } from './seal-handover.ts'
import { type TakingBackPorts, takeBack } from './take-back.ts'

/** Ports of all steps. Each function takes only those that it uses. */
export type StepPorts = ShardPorts &
  HandoverStepPorts &
  ReleasingPorts &
  SealingPorts &
  TakingBackPorts &
  ReportingPorts &
  HandoverRecords<'last'> &
  OrdersGiven<'give'> &
  EndpointProxy<'takeScripts'>
type Context = StepContext<StepPorts>

type Carrier<Kind extends Step['kind']> = (
  step: Extract<Step, { kind: Kind }>,
  context: Context,
) => Promise<Outcome>

/** One function for each kind of step. A missing one is a type error. */
const carriers: { readonly [Kind in Step['kind']]: Carrier<Kind> } = {
  'add-shard': addShard,
  'start-shard': async (step, context) => {
    await reportEmptyStart(step, context)
    return startShard(step, context)
  },
  'restart-shard': restartShard,
  'restart-primary': restartPrimary,
  'retire-shard': retireShard,
  'end-process': endProcess,
  'record-follows': recordFollows,
  follow: async ({ shard, primary }, context) =>
    context.database.cluster
      ? followInCluster(shard, primary, context)
      : followAlone(shard, primary, context),
  promote: async (step, context) => {
    const shard = member(step.shard, context)
    const runs = context.seen.shards.find(({ id }) => id === step.shard)?.revision
    // While the shard may still execute this order, no other is promoted (may-serve.ts). For a single shard
    // this does not matter.
    const follows = context.members.length > 1 ? null : shard.follows
    // A spec of another revision would restart the process that is being promoted.
    if (runs === revisionOf(shard.runs)) await disableAutoRestart({ ...shard, follows }, context)
    // Its agent has accepted a spec: it would refuse one for a shard that it was ordered to end.
    if (shard.leaving)
      await context.ports.effect('record-staying', () => context.ports.shards.setLeaving(shard.id, false))
    if (follows !== shard.follows)
      await context.ports.effect('record-follows', () => context.ports.shards.setFollows(shard.id, follows))
    noteOrder(step.shard, context)
    const outcome = context.database.cluster
      ? await takeOver(step.shard, context)
      : await command(step.shard, context, 'REPLICAOF', 'NO', 'ONE')
    if (outcome.kind === 'done') await reportPromotionLoss(step.shard, context)
    return outcome
  },
  'take-back': async (step, context) => {
    noteOrder(step.shard, context)
    return takeBack(step, context)
  },
  fence: async ({ shards }, context) => {
    for (const id of shards) {
      const shard = member(id, context)
      await fence(
        await context.ports.engines.connect(context.database, shard),
        shard.runs.build,
        context.ports,
      )
    }
    return done
  },
  'enable-aof': async ({ shard }, context) => {
    // Until the file is whole, an engine that has to sync each write ends if it cannot: with data that are
    // only in memory. The agent sets the policy afterwards.
    if (context.action?.goal.change !== undefined)
      await command(shard, context, 'CONFIG', 'SET', 'appendfsync', 'everysec')
    return command(shard, context, 'CONFIG', 'SET', 'appendonly', 'yes')
  },
  'save-snapshot': async ({ shard }, context) => saveSnapshot(shard, context),
  meet: meetInCluster,
  'assign-slots': assignSlots,
  'forget-node': forgetNode,
  'hand-over': handOverPrimary,
  'release-handover': async (step, context) => releaseHandover(step.primary, context),
  'seal-handover': async (_, context) => sealHandover(context),
  'record-primary': async ({ shard }, context) => {
    const { database, group, ports } = context
    // However it became primary: this record points the endpoint at it, and clients call scripts by hash.
    await ports.engines.tryOn(database, member(shard, context), (to) =>
      carryScripts(database, to, { all: true }, ports),
    )
    await ports.effect('record-primary', () => ports.databases.setPrimary(database.uid, group, shard))
    return done
  },
}

/** Carries out one step and returns its outcome. Throws for trouble, which is retried. */
export function carryOut(step: Step, context: Context): Promise<Outcome> {
  // The table is keyed by the step's kind, so this is its function.
  return (carriers[step.kind] as Carrier<Step['kind']>)(step, context)
}

/** Notes that the successor of an interrupted handover gets the order: from here on it may serve. */
function noteOrder(shard: number, { database, group, seen, ports }: Context): void {
  if (shard === seen.handover?.to) ports.ordersToServe.give({ databaseUid: database.uid, group })
}

async function followAlone(shard: number, primary: number, context: Context): Promise<Outcome> {
  const { database, members, ports } = context
  const follower = await ports.engines.connect(database, member(shard, { members }))
  const { host, port } = await prepareToFollow(follower, toFollow(primary, context), ports)
  return command(shard, context, 'REPLICAOF', host, String(port))
}

/**
 * Makes a shard take over from a lost primary. A shard that stalled is asked again after it wakes up: another
 * one may serve by then.
 */
async function takeOver(shard: number, context: Context): Promise<Outcome> {
  const { database, members, ports } = context
  const successor = await ports.engines.connect(database, member(shard, { members }))
  const clock = await readClock(successor, ports.time)
  const until = ports.time.elapsed() + ORDER_WITHIN_MS
  const answer = await ports.takeovers.order(successor, { clock, until }, ports.effect)
  return answer === 'taken' ? done : afterRefusal(shard, answer, context)
}

/** Saves a snapshot. An engine cannot write two at the same time; one that it has begun serves as well. */
async function saveSnapshot(shard: number, context: Context): Promise<Outcome> {
  const connection = await context.ports.engines.connect(context.database, member(shard, context))
  const isWriting = async () =>
    readInfo(await connection.info('persistence'))['rdb_bgsave_in_progress'] === '1'
  if (await isWriting()) return done
  try {
    return await command(shard, context, 'BGSAVE')
  } catch (cause) {
    if (await isWriting()) return done
    throw cause
  }
}
