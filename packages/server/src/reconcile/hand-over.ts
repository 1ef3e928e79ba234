import type { EngineConnection } from '@fairlead/engine'
import { type Handover, handoversStore } from '../actions/handovers-store.ts'
import type { Certificate } from '../core/action.ts'
import type { Step } from '../core/topology.ts'
import { databasesStore } from '../databases/databases-store.ts'
import { member, type Outcome, type Scene } from './carry-out.ts'
import { keepAsleepIfItDies } from './carry-out-shards.ts'
import { carryToFollowers } from './carry-to-followers.ts'
import { countFullSyncs } from './count-full-syncs.ts'
import type { Deps } from './deps.ts'
import { holdClients, prepareClients } from './endpoints.ts'
import { passGate, replicationOf } from './handover-gate.ts'
import { type Moved, type MovingGroup, moveRole } from './move-role.ts'
import { moveRoleInCluster } from './move-role-in-cluster.ts'
import { whyNotMapped } from './slot-map-gate.ts'
import { letWritesGo } from './stop-writes.ts'

/**
 * Moves the primary role from `from` to `to` without losing an acknowledged write: demote first, then promote.
 * Measured, with the reasons behind each word: facts on handover. In this order:
 *
 * 1. Gates: the stream really flows, to the heir and to its siblings; in cluster mode the heir knows the whole slot
 *    map. Nothing has stopped yet.
 *    Then users and settings of run time are carried over: the heir must be what the primary is to its clients. Clients of
 *    the endpoint get connections to it.
 * 2. The intent is on record.
 * 3. Clients are held at the endpoint until all that they asked is answered. Then the pause: writes of those who connect
 *    to the shard itself wait at the primary.
 * 4. Equal: every follower has everything the primary has, offsets and number of keys. If that takes too long, the
 *    pause ends and nothing happened.
 * 5. The role moves (move-role.ts, move-role-in-cluster.ts): demote, then promote. The write stop ends. The endpoint
 *    takes its clients to the heir.
 * 6. The record of who serves, with the certificate; siblings follow; the old primary lets its clients go.
 */
export async function handOver(step: Extract<Step, { kind: 'hand-over' }>, scene: Scene): Promise<Outcome> {
  const { database, members, action, deps } = scene
  const of = (id: number) => deps.engines.connect(database, member(id, { members }))
  const [primary, heir] = [await of(step.from), await of(step.to)]
  const siblings = members.filter(({ id }) => id !== step.from && id !== step.to)
  const others = await Promise.all(siblings.map(({ id }) => of(id)))

  const gate = await passGate(primary, [heir, ...others], scene.signal)
  if (gate !== 'open') return { kind: 'not yet', why: gate }
  const old = member(step.from, { members })
  const followers = members.filter(({ id }) => id !== step.from)
  const missing = await carryToFollowers({ database, primary: old, followers, action }, deps)
  if (missing !== undefined) return { kind: 'hopeless', why: missing }

  await keepAsleepIfItDies(member(step.to, { members }), scene)

  await prepareClients(database, scene.group, heir.address, deps)
  return scene.moveInTurn(
    async () =>
      (await whyNotReady(primary, heir, others, scene)) ??
      (await recordAndMove(step, { primary, heir, others }, scene)),
  )
}

/** Step 1, when it is this group's turn: other groups' handovers change the slot map. */
async function whyNotReady(
  primary: EngineConnection,
  heir: EngineConnection,
  others: readonly EngineConnection[],
  scene: Scene,
): Promise<Outcome | undefined> {
  const unmapped = scene.database.cluster ? await whyNotMapped(primary, heir, others) : undefined
  const gate = unmapped ?? (await passGate(primary, [heir, ...others], scene.signal))
  return gate === 'open' ? undefined : { kind: 'not yet', why: gate }
}

/** Steps 2 to 6. */
async function recordAndMove(
  step: Extract<Step, { kind: 'hand-over' }>,
  { primary, heir, others }: Pick<MovingGroup, 'primary' | 'heir' | 'others'>,
  { database, members, action, seen, deps, group }: Scene,
): Promise<Outcome> {
  const fullSyncsBefore = await countFullSyncs(database, members, deps.engines)
  const engine = seen.shards.find(({ id }) => id === step.from)?.engine
  const handover = await deps.effect('record-intent', () =>
    deps.handovers.intend({
      databaseUid: database.uid,
      group,
      actionUid: action?.uid ?? null,
      from: step.from,
      to: step.to,
      fullSyncsBefore,
      intendedAt: new Date(deps.now()).toISOString(),
      standby: { shard: step.from, runId: engine?.runId ?? '', errorReplies: engine?.errorReplies ?? 0 },
    }),
  )
  const { build } = member(step.from, { members }).runs
  const clients = await holdClients(database, group, heir.address, deps)
  if (typeof clients === 'string') {
    await deps.handovers.close(handover.id, null, new Date(deps.now()).toISOString())
    return { kind: 'not yet', why: clients, afterMs: CALM_MS }
  }
  const moved = await (database.cluster ? moveRoleInCluster : moveRole)(
    {
      ...{ primary, heir, others, build },
      errorReplies: errorsOf(step.to, seen),
      takeClients: async () => (await clients?.moveToHeir()) ?? null,
    },
    deps,
  )
  if ('why' in moved) {
    await clients?.release()
    await deps.handovers.close(handover.id, null, new Date(deps.now()).toISOString())
    return moved.hopeless
      ? { kind: 'hopeless', why: moved.why }
      : { kind: 'not yet', why: moved.why, afterMs: CALM_MS }
  }
  await settleIn({ handover, moved, primary, heir, others, build }, database.cluster, deps)
  return { kind: 'done' }
}

function errorsOf(shard: number, { shards }: Scene['seen']): number {
  return shards.find(({ id }) => id === shard)?.engine?.errorReplies ?? 0
}

/** After an attempt that held clients for nothing. */
const CALM_MS = 3_000
/** Step 6. The record comes first: there those ask who connect to the shard itself. */
async function settleIn(
  parts: Pick<MovingGroup, 'primary' | 'heir' | 'others' | 'build'> & {
    readonly handover: Handover
    readonly moved: Moved
  },
  inCluster: boolean,
  deps: Deps,
): Promise<void> {
  const { handover, moved, primary, heir, others, build } = parts
  const { store, effect, now } = deps
  const certificate: Certificate = {
    from: handover.from,
    to: handover.to,
    replid: moved.replid,
    offsetFrom: moved.offset,
    offsetTo: moved.offset,
    keys: moved.keys,
    writeStopMs: moved.writeStopMs,
    heldMs: moved.heldMs,
    recovered: false,
    fullSyncs: null,
    at: new Date(now()).toISOString(),
  }
  await effect('record-handover', () =>
    store.transaction(async (db) => {
      await databasesStore(db).setPrimary(handover.databaseUid, handover.group, handover.to)
      await handoversStore(db).certify(handover.id, certificate)
    }),
  )
  await letWritesGo(primary, build, deps)
  // Whoever stands in for the new primary, should it die this very second, must hold its history, not the old one.
  const { replid, offset } = await replicationOf(heir)
  await deps.databases.setHistory(handover.databaseUid, handover.group, { replid, offset })
  if (inCluster) return // there, the siblings follow by themselves
  for (const sibling of others) {
    await effect('follow', () => sibling.call('REPLICAOF', heir.address.host, heir.address.port))
  }
}
