import type { Logger } from 'pino'
import { bucketOf } from '../../core/state/bucket.ts'
import { LeaseLost } from '../../leases/lease-lost.ts'
import type { Leases } from '../../leases/leases-service.ts'
import type { Records } from '../records/stored-records.ts'
import type { ActionRecords, DatabaseRecords, ShardRecords, StreamSeen } from '../turn/ports.ts'
import type { Reaches } from '../turn/reach.ts'
import { realTime } from '../turn/time.ts'
import { ENDPOINT_OF } from '../turn/turn-memory.ts'
import { followOrders, type OrdersOnRecord } from './follow-orders.ts'
import { type HearingPorts, hearChanges, type Listener } from './hear-changes.ts'
import { createHeldPorts, type GivenPorts } from './held-ports.ts'
import { type Loop, startLoop } from './loop.ts'
import { meetTrouble } from './meet-trouble.ts'
import { reconcileDatabase } from './reconcile-database.ts'
import { shareQueue, withQueue } from './shared-queue.ts'
import type { Queue } from './slots.ts'
import { takeTurn } from './take-turn.ts'

/** The dependencies besides the ports of a turn. */
interface ReconcilerDeps
  extends DatabaseRecords<'listReserved'>,
    ShardRecords<'databasesOf'>,
    ActionRecords<'listActive'> {
  readonly log: Logger
  readonly leases: Leases
  readonly recordsUnder: (databaseUid: number, epoch: number) => Records
  readonly reaches: Pick<Reaches, 'work' | 'rest'>
  /** Undefined: no other server takes orders. */
  readonly orders: OrdersOnRecord | undefined
  /** Its answers may take as long as it takes until something changes. */
  readonly hearing: HearingPorts['agent']
}

/** The turns of all databases. Disposed of, it ends those that run and waits for them. */
export interface Reconciler extends Loop {
  /** Look at every database before long: something that concerns them all is another. */
  nudgeAll(): Promise<void>
}

/** For so long the first turns wait for what the agent has seen. */
const FIRST_WITHIN_MS = 1_000

/** Starts to look after every database on record that this server holds, and after each that it is nudged for or given. */
export async function createReconciler(given: GivenPorts & ReconcilerDeps): Promise<Reconciler> {
  const { leases, databases, log, orders, reaches } = given
  await using opened = new AsyncDisposableStack()
  const queue = shareQueue(given.actions.listActive)
  const recordsUnder = (uid: number, epoch: number) => withQueue(given.recordsUnder(uid, epoch), queue)
  const held = opened.use(createHeldPorts(given, leases, recordsUnder))
  const loop = opened.use(
    startLoop({
      async turn(uid, signal, cause) {
        const work = () => {
          reaches.work(uid)
          const { ports, memory } = held.of(uid)
          return reconcileDatabase(uid, ports, memory, signal, cause)
        }
        const turn = await takeTurn(uid, leases, work, log)
        // What is in progress keeps its connections from turn to turn; so does what has met trouble.
        if (turn.next !== 'again') reaches.rest(uid)
        return turn
      },
      trouble: async (uid, cause, timesInARow) => meetTrouble(uid, cause, timesInARow, held.of(uid).ports),
      log,
    }),
  )
  const isOurs = (uid: number) => leases.heldEpoch(uid) !== undefined
  const nudgeActive = async (isMeant: (uid: number) => boolean) => {
    for (const { databaseUid } of await given.actions.listActive())
      if (isMeant(databaseUid)) loop.nudge(databaseUid)
  }
  const nudgeThose = async (isMeant: (uid: number) => boolean) => {
    for (const { uid } of await databases.listReserved()) if (isMeant(uid)) loop.nudge(uid, 'watch')
    await nudgeActive(isMeant)
  }
  const nudgeAll = () => nudgeThose(isOurs)
  const changed = (uid: number, queue: Queue) => isOurs(uid) && loop.nudge(uid, queue)
  const otherProxy = () => held.allAgain(ENDPOINT_OF)
  // How far the primaries had come is on record, then, before any of them is found dead.
  await startHearing(given, { changed, otherProxy }, opened)
  leases.onTaken((buckets) => nudgeThose((uid) => buckets.has(bucketOf(uid))))
  await nudgeThose((uid) => isOurs(uid) && !loop.knows(uid))
  await nudgeActive(isOurs)
  // Those that are known have their turns.
  const wake = { nudge: loop.nudge, nudgeAll: () => nudgeThose((uid) => isOurs(uid) && !loop.knows(uid)) }
  if (orders !== undefined) opened.use(await followOrders(orders, wake, log))
  const owned = opened.move()
  return { nudge: loop.nudge, knows: loop.knows, nudgeAll, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Resolves when the agent has told everything once, or cannot for now. */
async function startHearing(
  given: GivenPorts & ReconcilerDeps,
  listener: Omit<Listener, 'asked'>,
  opened: AsyncDisposableStack,
): Promise<void> {
  const end = new AbortController()
  const asked = Promise.withResolvers<void>()
  const { listReserved } = given.databases
  const advanceHistories = (seen: readonly StreamSeen[]) => advanceHeld(seen, given)
  const ports = {
    ...{ agent: given.hearing, shards: given.shards, time: realTime, log: given.log },
    databases: { listReserved, advanceHistories },
  }
  const hearing = hearChanges(ports, { ...listener, asked: asked.resolve }, end.signal)
  opened.defer(async () => {
    end.abort(new Error('the server stops'))
    await hearing
  })
  await Promise.race([asked.promise, realTime.pause(FIRST_WITHIN_MS, end.signal).catch(() => undefined)])
}

/** Of the databases that this server holds, each within its lease: the others are heard by the servers that hold them. */
async function advanceHeld(
  seen: readonly StreamSeen[],
  { shards, leases, recordsUnder }: ReconcilerDeps,
): Promise<void> {
  for (const one of seen) {
    const [uid] = await shards.databasesOf([one.shard])
    const epoch = uid === undefined ? undefined : leases.heldEpoch(uid)
    if (uid === undefined || epoch === undefined) continue
    await recordsUnder(uid, epoch)
      .databases.advanceHistories([one])
      .catch((cause: unknown) => {
        if (!(cause instanceof LeaseLost)) throw cause
      })
  }
}
