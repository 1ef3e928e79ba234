import { readReplication } from '@fairlead/engine'
import type { Handover } from '../actions/handovers-store.ts'
import type { Certificate } from '../core/action.ts'
import { member, type Outcome, type Scene } from './carry-out.ts'
import { countFullSyncs, fullSyncsSince } from './count-full-syncs.ts'
import { settleEndpoint } from './endpoints.ts'
import { ifItAnswers } from './engines.ts'
import { resumePings } from './move-role-in-cluster.ts'
import { letWritesGo } from './stop-writes.ts'

const done: Outcome = { kind: 'done' }

/** After an interruption: nobody is held any longer, and the store knows who serves. A dead process holds nobody. */
export async function releaseHandover(
  primary: number,
  { database, group, members, everybody, deps }: Scene,
): Promise<Outcome> {
  for (const shard of members) {
    await ifItAnswers(async () => {
      const connection = await deps.engines.connect(database, shard)
      await letWritesGo(connection, shard.runs.build, deps)
      if (database.cluster) await resumePings(connection)
    })
  }
  await settleEndpoint(database, group, primary, everybody, deps)
  await deps.effect('record-primary', () => deps.databases.setPrimary(database.uid, group, primary))
  const handover = await deps.handovers.open(database.uid, group)
  if (handover !== undefined) await deps.effect('release-handover', () => deps.handovers.release(handover.id))
  return done
}

/** Completes the certificate and closes the handover; one that moved nothing is closed without. */
export async function sealHandover(scene: Scene): Promise<Outcome> {
  const { database, group, members, deps } = scene
  const handover = await deps.handovers.open(database.uid, group)
  if (handover === undefined) return done
  const took = handover.certificate ?? (await ifItAnswers(() => recoverCertificate(handover, scene)))
  const counted = await countFullSyncs(database, members, deps.engines)
  const certificate = took && { ...took, fullSyncs: fullSyncsSince(handover.fullSyncsBefore, counted) }
  const now = new Date(deps.now()).toISOString()
  await deps.effect('close-handover', () => deps.handovers.close(handover.id, certificate, now))
  return done
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
  const resumed = old.replid2 === heir.replid2
  return {
    from: handover.from,
    to: handover.to,
    replid: heir.replid2,
    offsetFrom: resumed ? old.secondOffset - 1 : old.offset,
    offsetTo: heir.secondOffset - 1,
    keys: null,
    writeStopMs: deps.now() - Date.parse(handover.intendedAt),
    heldMs: null,
    recovered: true,
    fullSyncs: null,
    at: new Date(deps.now()).toISOString(),
  }
}
