import { readInfo, readReplication, replicationIn } from '@fairlead/engine'
import type { Handover } from '../../actions/handovers-store.ts'
import { aloneFor, branchOf, lostInHandover, type OldPrimary } from '../../core/losses/lost-in-handover.ts'
import type { Certificate } from '../../core/state/action.ts'
import type { SeenShard } from '../../core/state/topology.ts'
import { settleEndpoint } from '../clients/endpoints.ts'
import { tellOfHandover } from '../records/tell-of-loss.ts'
import { ifItAnswers } from '../turn/engines.ts'
import { done, type Outcome } from '../turn/outcome.ts'
import { member, type Scene } from '../turn/scene.ts'
import { countFullSyncs, fullSyncsSince } from './count-full-syncs.ts'
import { replicationOf } from './handover-gate.ts'
import { resumePings } from './move-role-in-cluster.ts'
import { letWritesGo } from './stop-writes.ts'

/** After an interruption: nobody is held any longer, and the store knows who serves. A dead process holds nobody. */
export async function releaseHandover(primary: number, scene: Scene): Promise<Outcome> {
  const { database, group, members, everybody, seen, deps } = scene
  const heir = seen.shards.find(({ id }) => id === seen.handover?.to)
  if (database.cluster && heir !== undefined && mayWakeUp(heir) && !deps.takeovers.areOver(heir.address)) {
    const why = `shard ${heir.id} does not answer, and may still take over: until then writes wait`
    return { kind: 'not yet', code: 'shard_silent', why, afterMs: AGAIN_MS }
  }
  for (const shard of members) {
    await ifItAnswers(async () => {
      const connection = await deps.engines.connect(database, shard)
      // One that has just woken up as the old primary has not heard of its successor yet: it stays paused until it has.
      const isUnheard =
        database.cluster && shard.id !== primary && (await replicationOf(connection)).role === 'primary'
      if (isUnheard) return
      await letWritesGo(connection, shard.runs.build, deps)
      if (database.cluster) await resumePings(connection)
    })
  }
  await settleEndpoint(database, group, primary, everybody, deps)
  await deps.effect('record-primary', () => deps.databases.setPrimary(database.uid, group, primary))
  const old = seen.shards.find(({ id }) => id === seen.handover?.from)
  if (database.cluster && old !== undefined && mayWakeUp(old)) {
    const why = `shard ${old.id} does not answer: it was the primary, and its writes were stopped when it fell silent`
    return { kind: 'not yet', code: 'shard_silent', why, afterMs: AGAIN_MS }
  }
  const handover = await deps.handovers.open(database.uid, group)
  if (handover !== undefined) await deps.effect('release-handover', () => deps.handovers.release(handover.id))
  return done
}

/** A process that is silent now is looked at again so soon. */
const AGAIN_MS = 250

/** It runs and says nothing: what it was told before may still come. */
function mayWakeUp({ process, engine }: SeenShard): boolean {
  return engine === null && ['starting', 'running', 'stopping'].includes(process)
}

/** Completes the certificate and closes the handover; one that moved nothing is closed without. */
export async function sealHandover(scene: Scene): Promise<Outcome> {
  const { database, group, members, deps } = scene
  const handover = await deps.handovers.open(database.uid, group)
  if (handover === undefined) return done
  const took = handover.certificate ?? (await ifItAnswers(() => recoverCertificate(handover, scene)))
  const counted = await countFullSyncs(database, members, deps.engines)
  const certificate = took && { ...took, fullSyncs: fullSyncsSince(handover.fullSyncsBefore, counted) }
  if (certificate !== null) {
    const old = await ifItAnswers(() => lookAtOld(handover, scene))
    const lost = lostInHandover(certificate, old, database.cluster)
    if (lost !== undefined) await tellOfHandover(certificate, lost, scene)
  }
  const now = new Date(deps.now()).toISOString()
  await deps.effect('close-handover', () => deps.handovers.close(handover.id, certificate, now))
  return done
}

/** Null when one of the two is gone, or the role is elsewhere: others tell of that. */
async function lookAtOld({ from, to, standby }: Handover, scene: Scene): Promise<OldPrimary | null> {
  const { database, members, deps } = scene
  if ([from, to].some((id) => !members.some((one) => one.id === id))) return null
  const connect = async (id: number) => deps.engines.connect(database, member(id, { members }))
  const heir = await replicationOf(await connect(to))
  const fields = readInfo(await (await connect(from)).info())
  const old = replicationIn(fields)
  if (heir.role !== 'primary' || old.role !== 'replica') return null
  return {
    isSameProcess: fields['run_id'] === standby.runId,
    alone: aloneFor(old, heir),
  }
}

/**
 * The certificate of a handover that we did not see through, from what the engines themselves remember of it: the
 * replication id and offset at which their history branched. Null when the role did not move to the intended heir, or when one of
 * the two is gone; throws when one does not answer: nobody can vouch for it then.
 */
async function recoverCertificate(
  handover: Handover,
  { database, members, deps }: Scene,
): Promise<Certificate | null> {
  if ([handover.from, handover.to].some((id) => !members.some((one) => one.id === id))) return null
  const connect = async (id: number) => deps.engines.connect(database, member(id, { members }))
  const heir = readReplication(await (await connect(handover.to)).info('replication'))
  if (heir.role !== 'primary') return null
  const old = readReplication(await (await connect(handover.from)).info('replication'))
  // One that has joined the history of its heir, in whichever way, has no offset of its own left.
  const isJoined = old.replid === heir.replid
  return {
    from: handover.from,
    to: handover.to,
    replid: heir.replid2,
    offsetFrom: isJoined ? branchOf(old.replid2 === heir.replid2 ? old : heir) : old.offset,
    offsetTo: branchOf(heir),
    keys: null,
    writeStopMs: deps.now() - Date.parse(handover.intendedAt),
    heldMs: null,
    recovered: true,
    fullSyncs: null,
    at: new Date(deps.now()).toISOString(),
  }
}
