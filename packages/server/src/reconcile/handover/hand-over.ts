import { setTimeout as delay } from 'node:timers/promises'
import { type Handover, handoversStore } from '../../actions/handovers-store.ts'
import type { Certificate } from '../../core/state/action.ts'
import type { ShardRecord } from '../../core/state/database.ts'
import type { Step } from '../../core/state/topology.ts'
import { databasesStore } from '../../databases/databases-store.ts'
import { carryScripts } from '../carry-over/carry-scripts.ts'
import { carryToFollowers } from '../carry-over/carry-to-followers.ts'
import { holdClients, prepareClients } from '../clients/endpoints.ts'
import { warnOf } from '../records/note-action.ts'
import { tellOfRoom } from '../records/tell-of-room.ts'
import { keepAsleepIfItDies } from '../shards/keep-asleep-if-it-dies.ts'
import { setLimits } from '../shards/keep-limits.ts'
import type { Deps } from '../turn/deps.ts'
import type { Outcome } from '../turn/outcome.ts'
import type { Pending, Prepared } from '../turn/preparations.ts'
import { member, type Scene } from '../turn/scene.ts'
import { ORDER_WITHIN_MS } from '../turn/take-over.ts'
import { countFullSyncs } from './count-full-syncs.ts'
import { giveUpBlocked } from './give-up-blocked.ts'
import { passGate, replicationOf } from './handover-gate.ts'
import { listenOnTheBus } from './messages-on-the-bus.ts'
import { type Moved, type MovingGroup, moveRole } from './move-role.ts'
import { moveRoleInCluster } from './move-role-in-cluster.ts'
import { prepareToFollow, toFollow } from './prepare-to-follow.ts'
import { whyNotMapped } from './slot-map-gate.ts'
import { letWritesGo } from './stop-writes.ts'

/**
 * Moves the primary role from `from` to `to` without losing an acknowledged write: demote first, then promote.
 * Measured, with the reasons behind each word: docs/measurements/handover.md. In this order:
 *
 * 1. Beside the turns (preparations.ts), because nothing stops and it takes the longest: the stream really flows, to the heir and
 *    to its siblings. Users and settings of run time are carried over: the heir must be what the primary is to its clients.
 *    Clients of the endpoint get connections to it, and it gets their scripts. In the turn in which all that is done, the gates once more, and in
 *    cluster mode whether the group knows the heir, and it the slot map.
 * 2. The intent is on record.
 * 3. What blocks is given up, where it is much (give-up-blocked.ts). Clients are held at the endpoint until all that they asked is answered, and in cluster mode until the heir has heard what they
 *    published. Then the pause: writes of those who connect to the shard itself wait at the primary.
 * 4. Equal: every follower has everything the primary has, offsets and number of keys. If that takes too long, the
 *    pause ends and nothing happened.
 * 5. The role moves (move-role.ts, move-role-in-cluster.ts): demote, then promote. The write stop ends. The endpoint
 *    takes its clients to the heir.
 * 6. The record of who serves, with the certificate; siblings follow; the old primary lets its clients go.
 */
export async function handOver(step: Extract<Step, { kind: 'hand-over' }>, scene: Scene): Promise<Outcome> {
  const { database, members, deps } = scene
  const of = (id: number) => deps.engines.connect(database, member(id, { members }))
  const [primary, heir] = [await of(step.from), await of(step.to)]
  const siblings = members.filter(({ id }) => id !== step.from && id !== step.to)
  const others = await Promise.all(siblings.map(({ id }) => of(id)))

  const whyUnmapped = async () => (database.cluster ? await whyNotMapped(primary, heir, others) : undefined)
  // Before anything else: it may take seconds, and others can be prepared meanwhile.
  const unmapped = await whyUnmapped()
  if (unmapped !== undefined) return { kind: 'not yet', ...unmapped }

  // A process that began since then has none of what was given to the one before.
  const runs = [step.from, step.to].map((id) => runIdOf(id, scene.seen))
  const what = `handover of ${database.uid} from ${step.from} to ${step.to}, processes ${runs.join(' and ')}`
  const ask = () =>
    deps.preparations.ask({ databaseUid: database.uid, what }, (signal) =>
      prepare(step, { primary, heir, others }, { ...scene, signal }),
    )
  let prepared = ask()
  while (isPending(prepared) && performance.now() < scene.moves.waitUntil && !scene.signal.aborted) {
    await deps.preparations.change(scene.moves.waitUntil - performance.now())
    prepared = ask()
  }
  if (isPending(prepared)) return { ...prepared, kind: 'not yet' }
  if (prepared !== 'ready') return prepared
  const [fullSyncsBefore, gate] = await Promise.all([
    countFullSyncs(database, members, deps.engines),
    passGate(primary, [heir, ...others], scene.signal),
    keepAsleepIfItDies(member(step.to, { members }), scene),
  ])
  if (gate !== undefined) return { kind: 'not yet', ...gate }
  return scene.moves.inTurn(async () => {
    deps.preparations.end(what)
    const still = await whyUnmapped()
    if (still !== undefined) return { kind: 'not yet', ...still }
    return recordAndMove(step, { primary, heir, others, fullSyncsBefore }, scene)
  })
}

function isPending(prepared: Prepared | Pending): prepared is Pending {
  return prepared !== 'ready' && prepared.kind === 'pending'
}

type Roles = Pick<MovingGroup, 'primary' | 'heir' | 'others'>

/** Most of step 1. Nothing has stopped yet, and nothing is different for anybody if it ends here. */
async function prepare(
  step: Extract<Step, { kind: 'hand-over' }>,
  { primary, heir, others }: Roles,
  { database, members, action, deps, group, seen, signal }: Scene,
): Promise<Prepared> {
  const gate = await passGate(primary, [heir, ...others], signal)
  if (gate !== undefined) return { kind: 'not yet', ...gate }
  const old = member(step.from, { members })
  const followers = members.filter(({ id }) => id !== step.from)
  const missing = await carryToFollowers({ database, primary: old, followers, action }, deps)
  if (missing !== undefined) return { kind: 'hopeless', ...missing }
  // They may have been given a larger backlog just now.
  for (const follower of [heir, ...others]) await setLimits(follower, seen.limits, deps)
  await tellOfRoom(step, { seen, action, deps })
  const unreachable = await prepareClients(database, group, heir.address, deps)
  if (unreachable !== undefined) {
    const why = `shard ${step.to} takes no clients of the endpoint: ${unreachable}`
    return { kind: 'not yet', code: 'clients_refused', why }
  }
  await carryScripts(database, heir, { all: true }, deps)
  return 'ready'
}

/** Steps 2 to 6. */
async function recordAndMove(
  step: Extract<Step, { kind: 'hand-over' }>,
  {
    primary,
    heir,
    others,
    fullSyncsBefore,
  }: Roles & { readonly fullSyncsBefore: Handover['fullSyncsBefore'] },
  scene: Scene,
): Promise<Outcome> {
  const { database, members, action, seen, deps, group } = scene
  const engine = seen.shards.find(({ id }) => id === step.from)?.engine
  using bus = await listenOnTheBus(step, primary, scene)
  const heirRecord = toFollow(step.to, scene)
  // Before anything stops: nothing of it concerns a primary.
  const heirAt = database.cluster ? heir.address : await prepareToFollow(primary, heirRecord, deps)
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
  const ours = { databaseUid: database.uid, group }
  deps.ordersToServe.begin(ours)
  const { build } = member(step.from, { members }).runs
  deps.log.info({ database: database.uid, group, from: step.from, to: step.to }, 'the primary role moves')
  await giveUpBlocked(database, group, primary, deps)
  // From before the hold: it ends later than this, and so does the pause.
  const until = performance.now() + ORDER_WITHIN_MS
  const clients = await holdClients(database, group, heir.address, deps)
  if (clients !== null && 'why' in clients) {
    await deps.handovers.close(handover.id, null, new Date(deps.now()).toISOString())
    await tellOfCut(clients.cut, scene)
    const { code, why, afterMs } = clients
    return { kind: 'not yet', code, why, afterMs }
  }
  await bus?.arrived()
  // Those that came since. Nothing new comes while clients are held, and while the role moves there is time.
  const scripts = carryScripts(database, heir, { all: false }, deps)
  const move = (database.cluster ? moveRoleInCluster : moveRole)(
    {
      ...{ primary, heir, others, heirAt, build, until },
      errorReplies: errorsOf(step.to, seen),
      orders: {
        give: () => deps.ordersToServe.give(ours),
        refused: () => deps.ordersToServe.refused(ours),
      },
      takeClients: async () => {
        await Promise.race([scripts, delay(SCRIPTS_MS, undefined, { ref: false })])
        await noteServing(step.to, { database, group, deps })
        return (await clients?.moveToHeir()) ?? null
      },
    },
    deps,
  )
  const [moved] = await Promise.all([move, scripts])
  if ('why' in moved) {
    await clients?.release()
    await deps.handovers.close(handover.id, null, new Date(deps.now()).toISOString())
    const { code, why } = moved
    return moved.hopeless ? { kind: 'hopeless', code, why } : { kind: 'not yet', code, why, afterMs: CALM_MS }
  }
  await tellOfCut(clients?.cut ?? 0, scene)
  const runId = runIdOf(step.to, seen)
  await settleIn({ handover, moved, primary, heir, heirRecord, runId, others, build }, database.cluster, deps)
  return { kind: 'done' }
}

/**
 * Where each write is on disk before it is acknowledged, the disk on record must be the one that has them, before the first client is
 * there: if everything dies now, the primary on record is started from its disk. Elsewhere a crash may lose that moment.
 */
async function noteServing(
  shard: number,
  { database, group, deps }: Pick<Scene, 'database' | 'group' | 'deps'>,
): Promise<void> {
  if (database.persistence !== 'aof') return
  await deps.effect('record-serving', () => deps.databases.setPrimary(database.uid, group, shard))
}

function runIdOf(shard: number, { shards }: Scene['seen']): string | null {
  return shards.find(({ id }) => id === shard)?.engine?.runId ?? null
}

function errorsOf(shard: number, { shards }: Scene['seen']): number {
  return shards.find(({ id }) => id === shard)?.engine?.errorReplies ?? 0
}

/** So long clients are held for scripts that are new; mostly there are none. */
const SCRIPTS_MS = 200
/** After an attempt that held clients for nothing. */
const CALM_MS = 3_000
/** The log of the proxy says which they were. */
async function tellOfCut(cut: number, { database, action, deps }: Scene): Promise<void> {
  if (cut === 0) return
  const why = `${cut} client(s) were closed: their requests took too long to arrive, or their replies did not come, and the handover was put off again and again`
  deps.log.warn({ database: database.uid, cut }, 'clients with requests that do not end were closed')
  if (action !== undefined) await warnOf(action, why, deps)
}

/** Step 6. The record comes first: there those ask who connect to the shard itself. */
async function settleIn(
  parts: Pick<MovingGroup, 'primary' | 'heir' | 'others' | 'build'> & {
    readonly handover: Handover
    readonly moved: Moved
    readonly heirRecord: ShardRecord
    /** Of the heir's process. */
    readonly runId: string | null
  },
  inCluster: boolean,
  deps: Deps,
): Promise<void> {
  const { handover, moved, primary, heir, heirRecord, runId, others, build } = parts
  const { store, effect, now } = deps
  // Whoever stands in for the new primary, should it die this very second, must hold its history, not the old one.
  const { replid, offset, replid2, secondOffset } = await replicationOf(heir)
  if (replid2 !== moved.replid)
    throw new Error(`the shard at port ${heir.address.port} does not continue the history of its primary`)
  const certificate: Certificate = {
    from: handover.from,
    to: handover.to,
    replid: moved.replid,
    offsetFrom: moved.offset,
    offsetTo: secondOffset - 1,
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
  if (!inCluster) await letWritesGo(primary, build, deps)
  await deps.databases.setHistory(handover.databaseUid, handover.group, { replid, offset, runId })
  if (inCluster) return // there, the siblings follow by themselves
  for (const sibling of others) {
    const { host, port } = await prepareToFollow(sibling, heirRecord, deps)
    await effect('follow', () => sibling.call('REPLICAOF', host, port))
  }
}
