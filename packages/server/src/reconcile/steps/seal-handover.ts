import {
  type EffectRunner,
  readInfo,
  readReplication,
  replicationIn,
  replicationOf,
  resumeWrites,
} from '@fairlead/engine'
import { aloneFor, branchOf, lostInHandover, type OldPrimary } from '../../core/losses/lost-in-handover.ts'
import type { Certificate } from '../../core/state/action.ts'
import { type Handover, longestWriteStopMs } from '../../core/state/handover.ts'
import type { ObservedShard } from '../../core/state/topology.ts'
import { type PointingPorts, restoreEndpoint } from '../clients/endpoints.ts'
import { resumePings } from '../handover/move-role-in-cluster.ts'
import { countFullSyncs, fullSyncsSince } from '../look/count-full-syncs.ts'
import { type ReportingPorts, reportHandoverLoss } from '../records/report-data-loss.ts'
import { ifItAnswers } from '../turn/engines.ts'
import { done, type Outcome } from '../turn/outcome.ts'
import type {
  DatabaseRecords,
  EndpointProxy,
  EngineConnections,
  HandoverRecords,
  TakingOver,
} from '../turn/ports.ts'
import { member, type StepContext } from '../turn/step-context.ts'

/** Ports for ending the stops of an unfinished handover. */
export type ReleasingPorts = PointingPorts &
  EngineConnections<'connect' | 'tryOn'> &
  EndpointProxy<'releaseEndpoint'> &
  DatabaseRecords<'setPrimary'> &
  HandoverRecords<'open' | 'release'> &
  TakingOver
/** Ports for closing a recorded handover. */
export type SealingPorts = ReportingPorts &
  EngineConnections<'connect' | 'tryOn'> &
  EffectRunner &
  HandoverRecords<'open' | 'close'>
type Releasing = Pick<
  StepContext<ReleasingPorts>,
  'database' | 'group' | 'members' | 'everybody' | 'seen' | 'ports'
>
type Sealing = Pick<StepContext<SealingPorts>, 'database' | 'group' | 'members' | 'action' | 'ports'>

/** Releases all clients after an interruption, and records the primary. A dead process holds no client. */
export async function releaseHandover(primary: number, context: Releasing): Promise<Outcome> {
  const { database, group, members, everybody, seen, ports } = context
  const successor = seen.shards.find(({ id }) => id === seen.handover?.to)
  if (
    database.cluster &&
    successor !== undefined &&
    mayWakeUp(successor) &&
    !ports.takeovers.areOver(successor.address)
  ) {
    const why = `shard ${successor.id} does not answer, and may still take over: until then writes wait`
    return { kind: 'not yet', code: 'shard_silent', why, afterMs: AGAIN_MS }
  }
  for (const shard of members) {
    await ports.engines.tryOn(database, shard, async (connection) => {
      // An old primary that has just woken up does not know its successor yet: until then it stays paused.
      const isUnheard =
        database.cluster && shard.id !== primary && (await replicationOf(connection)).role === 'primary'
      if (isUnheard) return
      await resumeWrites(connection, shard.runs.build, ports)
      if (database.cluster) await resumePings(connection)
    })
  }
  await restoreEndpoint(database, group, primary, everybody, ports)
  await ports.effect('record-primary', () => ports.databases.setPrimary(database.uid, group, primary))
  const old = seen.shards.find(({ id }) => id === seen.handover?.from)
  if (database.cluster && old !== undefined && mayWakeUp(old)) {
    const why = `shard ${old.id} does not answer: it was the primary, and its writes were stopped when it fell silent`
    return { kind: 'not yet', code: 'shard_silent', why, afterMs: AGAIN_MS }
  }
  const handover = await ports.handovers.open(database.uid, group)
  if (handover !== undefined)
    await ports.effect('release-handover', () => ports.handovers.release(handover.id))
  return done
}

/** Interval for looking at a process that is silent now. */
const AGAIN_MS = 250

/** True if the process runs and is silent: it may still execute earlier orders. */
function mayWakeUp({ process, engine }: ObservedShard): boolean {
  return engine === null && ['starting', 'running', 'stopping'].includes(process)
}

/** Completes the certificate and closes the handover; without a certificate if nothing moved. */
export async function sealHandover(context: Sealing): Promise<Outcome> {
  const { database, group, members, ports } = context
  const handover = await ports.handovers.open(database.uid, group)
  if (handover === undefined) return done
  const took = handover.certificate ?? (await ifItAnswers(() => recoverCertificate(handover, context)))
  const counted = await countFullSyncs(database, members, ports)
  const certificate = took && { ...took, fullSyncs: fullSyncsSince(handover.fullSyncsBefore, counted) }
  if (certificate !== null) {
    const old = await ifItAnswers(() => lookAtOld(handover, context))
    const lost = lostInHandover(certificate, old, database.cluster)
    if (lost !== undefined) await reportHandoverLoss(certificate, lost, context)
  }
  const now = new Date(ports.now()).toISOString()
  await ports.effect('close-handover', () => ports.handovers.close(handover.id, certificate, now))
  return done
}

/** Null if one of the two is gone, or the role is elsewhere: other reports cover that. */
async function lookAtOld({ from, to, standby }: Handover, context: Sealing): Promise<OldPrimary | null> {
  const { database, members, ports } = context
  if ([from, to].some((id) => !members.some((one) => one.id === id))) return null
  const connect = async (id: number) => ports.engines.connect(database, member(id, { members }))
  const successor = await replicationOf(await connect(to))
  const fields = readInfo(await (await connect(from)).info())
  const old = replicationIn(fields)
  if (successor.role !== 'primary' || old.role !== 'replica') return null
  return {
    isSameProcess: fields['run_id'] === standby.runId,
    alone: aloneFor(old, successor),
  }
}

/**
 * Recovers the certificate of an interrupted handover from the replication id and offset at which the
 * engines' histories branched. Null if the role did not move to the successor, or one of the two is gone.
 * Throws if one does not answer, because there is no proof then.
 */
async function recoverCertificate(
  handover: Handover,
  { database, members, ports }: Sealing,
): Promise<Certificate | null> {
  if ([handover.from, handover.to].some((id) => !members.some((one) => one.id === id))) return null
  const connect = async (id: number) => ports.engines.connect(database, member(id, { members }))
  const successor = readReplication(await (await connect(handover.to)).info('replication'))
  if (successor.role !== 'primary') return null
  const old = readReplication(await (await connect(handover.from)).info('replication'))
  // An old primary that has joined its successor's history has no separate offset left.
  const isJoined = old.replid === successor.replid
  return {
    from: handover.from,
    to: handover.to,
    replid: successor.replid2,
    offsetFrom: isJoined ? branchOf(old.replid2 === successor.replid2 ? old : successor) : old.offset,
    offsetTo: branchOf(successor),
    keys: null,
    writeStopMs: longestWriteStopMs(handover, ports.now()),
    heldMs: null,
    group: handover.group,
    recovered: true,
    fullSyncs: null,
    at: new Date(ports.now()).toISOString(),
  }
}
