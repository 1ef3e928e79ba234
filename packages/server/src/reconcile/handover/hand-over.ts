import { type EffectRunner, type MovingGroup, replicationOf, resumeWrites } from '@fairlead/engine'
import type { Certificate, WaitedClients } from '../../core/state/action.ts'
import { type History, historyBefore, type ShardRecord } from '../../core/state/database.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import type { HeldClients, NotHeld } from '../clients/endpoints.ts'
import type { Outcome } from '../turn/outcome.ts'
import type { Clock, PassingTime, TakingOver } from '../turn/ports.ts'
import { ORDER_WITHIN_MS } from '../turn/take-over.ts'
import { type Move, type MovedWithClients, moveRoleByOrder, type RoleMove } from './move-role.ts'
import { moveRoleInCluster } from './move-role-in-cluster.ts'
import { prepareToFollow } from './prepare-to-follow.ts'

/** The role that moves from shard `from` to shard `to`. Everything is prepared. */
export interface RoleToMove extends MovingGroup, Pick<RoleMove, 'orders'> {
  readonly inCluster: boolean
  readonly group: number
  readonly from: number
  readonly to: number
  /** Address at which replicas can follow the successor. */
  readonly successorRecord: Pick<ShardRecord, 'host' | 'port' | 'tlsPort'>
}

/** Ports of a handover, besides the group's connections. It knows no store, proxy or agent. */
export interface HandoverPorts extends EffectRunner, PassingTime, TakingOver, Clock {
  /** Null in cluster mode. */
  readonly move: Move | null
  readonly clients: HandoverClients
  readonly settings: HandoverSettings
  readonly record: HandoverRecord
}

/** Operations of a handover on the endpoint's clients, in this order. */
export interface HandoverClients {
  /** Ends blocking commands, if there are many. */
  giveUpBlocked(): Promise<void>
  /** Null without an endpoint. */
  hold(): Promise<HeldClients | NotHeld | null>
  /** Resolves when the successor has received all messages published by clients. */
  messagesArrived(): Promise<void>
  /** Gives the successor the scripts loaded since it was prepared. Never rejects. */
  carryScripts(): Promise<void>
}

/** Carries users and settings that were changed since the preparations. */
export interface HandoverSettings {
  /** Called before anything stops. Returns an obstacle if a follower cannot get a user. */
  carry(): Promise<Obstacle | undefined>
  /** Begins to read what the next `carryToSuccessor` needs. Called when clients are held. */
  readAhead(): void
  /** Called when the successor serves. Failures are warnings of the action; rejects if the store does. */
  carryToSuccessor(): Promise<void>
}

/** Records of a handover, in this order: `intend`, then `abandon` or all the others. */
export interface HandoverRecord {
  /** Called before anything stops. */
  intend(): Promise<void>
  /** Called if the role has not moved. */
  abandon(): Promise<void>
  /** Called when the successor has the role, before any client of the endpoint is there. */
  serving(): Promise<void>
  /** Clients closed because their long requests delayed handovers for too long; mostly 0. */
  cut(clients: number): Promise<void>
  /** Called when the clients are at the successor. */
  moved(certificate: Certificate): Promise<void>
  /** Records the offset of the new primary's history. */
  history(point: Pick<History, 'replid' | 'offset' | 'before'>): Promise<void>
}

/** Does steps 2 to 6 of hand-over-primary.ts (reasons there): from the intent to siblings that follow. */
export async function handOver(role: RoleToMove, ports: HandoverPorts): Promise<Outcome> {
  const { primary, successor, successorRecord, inCluster } = role
  const { clients, effect, record, settings, time } = ports
  const missing = await settings.carry()
  if (missing !== undefined) return { kind: 'hopeless', ...missing }
  // Its replicas may have been made writable: writes that the old primary takes as a replica would be lost.
  await effect('set-read-only', () => primary.call('CONFIG', 'SET', 'replica-read-only', 'yes'))
  // Done before anything stops: it has no effect on a primary.
  const followAt = inCluster ? successor.address : await prepareToFollow(primary, successorRecord, ports)
  await record.intend()
  await clients.giveUpBlocked()
  const [began, holdAt] = [time.elapsed(), ports.now()]
  const held = await clients.hold()
  // Counted from before the hold: the hold and the pause end later than this.
  const until = held === null ? null : began + ORDER_WITHIN_MS
  if (held !== null && 'why' in held) {
    await record.abandon()
    await record.cut(held.cut)
    const { code, why, afterMs } = held
    return { kind: 'not yet', code, why, afterMs }
  }
  await clients.messagesArrived()
  const takeClients = async () => {
    const all = Promise.all([scripts, settings.carryToSuccessor()])
    await Promise.all([Promise.race([all, time.pause(CARRY_MS)]), record.serving()])
    return (await held?.moveToSuccessor()) ?? null
  }
  const terms = { ...role, until, takeClients }
  const moving =
    ports.move === null
      ? moveRoleInCluster(terms, ports)
      : moveRoleByOrder(ports.move, { ...terms, followAt }, time)
  // Both after the first order of the move, which does not wait for them: no new script, and no change of
  // users by a client of the endpoint, arrives while clients are held.
  settings.readAhead()
  const scripts = clients.carryScripts()
  const [moved] = await Promise.all([moving, scripts])
  if ('why' in moved) {
    await held?.release()
    await record.abandon()
    await moved.remedy?.()
    const { code, why } = moved
    return moved.hopeless ? { kind: 'hopeless', code, why } : { kind: 'not yet', code, why, afterMs: CALM_MS }
  }
  // Only now: see NOWHERE in move-role.ts of @fairlead/engine. In cluster mode it follows by itself.
  const following = ports.move?.follow()
  following?.catch(() => undefined) // thrown again when the move is on record
  await record.cut(held?.cut ?? 0)
  const start = { holdAt, moveAfterMs: Math.round((moved.began - began) * 100) / 100 }
  const waited = held?.waited() ?? null
  await finishHandover(role, { ...moved, began: start, waited, following }, ports)
  return { kind: 'done' }
}

/** Longest hold for new scripts, users and settings; usually there are none. */
const CARRY_MS = 200
/** Pause after an attempt that held clients without moving the role. */
const CALM_MS = 3_000

interface HandedOver extends Omit<MovedWithClients, 'began'> {
  readonly waited: WaitedClients | null
  readonly began: NonNullable<Certificate['began']>
  /** Settles when the old primary has the order to follow. */
  readonly following: Promise<void> | undefined
}

/** Does step 6. The record comes first: clients that connect to shards directly read it. */
async function finishHandover(
  { primary, successor, others, build, successorRecord, group, from, to, inCluster }: RoleToMove,
  moved: HandedOver,
  ports: HandoverPorts,
): Promise<void> {
  const { effect, record, settings, now } = ports
  // If the new primary dies now, its replacement must hold this history, not the old one.
  const { replid, offset, replid2, secondOffset } = await replicationOf(successor)
  if (replid2 !== moved.replid)
    throw new Error(
      `the shard at port ${successor.address.port} does not continue the history of its primary`,
    )
  await record.moved({
    from,
    to,
    replid: moved.replid,
    offsetFrom: moved.offset,
    offsetTo: secondOffset - 1,
    keys: moved.keys,
    writeStopMs: moved.writeStopMs,
    heldMs: moved.heldMs,
    group,
    // The parts are sequential: clients are held until the move begins, including the wait for messages and
    // the reading of clocks.
    parts: {
      ...moved.parts,
      ...(moved.heldMs === null ? { hold: 0, release: 0 } : { hold: moved.began.moveAfterMs }),
    },
    ...(moved.heldMs !== null && moved.waited !== null && { waited: moved.waited }),
    ...(moved.heldMs !== null && { began: moved.began }),
    recovered: false,
    fullSyncs: null,
    at: new Date(now()).toISOString(),
  })
  await moved.following
  if (!inCluster) await resumeWrites(primary, build, ports)
  // Until the record was written, people changed the old primary.
  await settings.carryToSuccessor()
  await record.history({ replid, offset, ...historyBefore({ replid2, secondOffset }) })
  if (inCluster) return // in cluster mode the siblings follow by themselves
  for (const sibling of others) {
    const { host, port } = await prepareToFollow(sibling, successorRecord, ports)
    await effect('follow', () => sibling.call('REPLICAOF', host, port))
  }
}
