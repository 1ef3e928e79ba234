import { atPlace, type RecordSpan } from '@fairlead/engine'
import type { Logger } from 'pino'
import { bucketOf } from '../../core/state/bucket.ts'
import { LeaseLost } from '../../leases/lease-lost.ts'
import type { Leases } from '../../leases/leases-service.ts'
import type { Counters } from '../../observe/metrics/counters.ts'
import { type CountersOfRecords, countRecords } from '../records/count-records.ts'
import type { Records } from '../records/stored-records.ts'
import { traceRecords } from '../records/trace-records.ts'
import type { ActionRecords, DatabaseRecords, ShardRecords, StreamSeen } from '../turn/ports.ts'
import type { Reaches } from '../turn/reach.ts'
import { realTime } from '../turn/time.ts'
import { ENDPOINT_OF } from '../turn/turn-memory.ts'
import { followOrders, type OrdersOnRecord } from './follow-orders.ts'
import { type HearingPorts, hearChanges, type Listener } from './hear-changes.ts'
import { createHeldPorts, type GivenPorts } from './held-ports.ts'
import { type Loop, startLoop } from './loop.ts'
import { meetTrouble } from './meet-trouble.ts'
import { reconcileDatabase, type Turn } from './reconcile-database.ts'
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
  /** Undefined: nothing is traced. */
  readonly recordSpan: RecordSpan | undefined
  readonly counters: CountersOfRecords & Pick<Counters, 'turns' | 'turnSeconds'>
  /** Undefined: no other server shares the store, so no other one takes orders. */
  readonly orders: OrdersOnRecord | undefined
  /** The link whose answers may be long in coming: the agent answers when something changes. */
  readonly hearing: HearingPorts['agent']
}

/** The turns of all databases. Disposed of, it ends those that run and waits for them. */
export interface Reconciler extends Loop {
  /** Nudges every database: something that concerns all of them has changed. */
  nudgeAll(): Promise<void>
}

/** How long the first turns wait for the first report of the agent. */
const FIRST_WITHIN_MS = 1_000

/** Starts the turns of every database on record that this server holds, of each that gets a nudge, and of each that it takes over later. */
export async function createReconciler(given: GivenPorts & ReconcilerDeps): Promise<Reconciler> {
  const { leases, databases, log, orders, reaches } = given
  await using opened = new AsyncDisposableStack()
  const queue = shareQueue(given.actions.listActive)
  const { counters, recordSpan } = given
  const recordsUnder = (uid: number, epoch: number) => {
    const counted = countRecords(withQueue(given.recordsUnder(uid, epoch), queue), counters)
    return recordSpan === undefined ? counted : traceRecords(counted, recordSpan)
  }
  const held = opened.use(createHeldPorts(given, leases, recordsUnder))
  const loop = opened.use(
    startLoop({
      async turn(uid, signal, cause) {
        const work = () => {
          reaches.work(uid)
          const { ports, memory } = held.of(uid)
          return atPlace(recordSpan && { record: recordSpan }, () =>
            reconcileDatabase(uid, ports, memory, signal, cause),
          )
        }
        const turn = await counted(counters, () => takeTurn(uid, leases, work, log))
        // A database with work in progress, or with trouble, keeps its connections from turn to turn.
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
  // First of all: the offsets of the primaries must be on record before a turn finds one of them dead.
  await startHearing(given, { changed, otherProxy }, opened)
  leases.onTaken((buckets) => nudgeThose((uid) => buckets.has(bucketOf(uid))))
  await nudgeThose((uid) => isOurs(uid) && !loop.knows(uid))
  await nudgeActive(isOurs)
  // Databases that the loop knows have turns already.
  const wake = { nudge: loop.nudge, nudgeAll: () => nudgeThose((uid) => isOurs(uid) && !loop.knows(uid)) }
  if (orders !== undefined) opened.use(await followOrders(orders, wake, log))
  const owned = opened.move()
  const { nudge, knows, load } = loop
  return { nudge, knows, load, nudgeAll, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Counts a turn, and how long it took. */
async function counted(
  { turns, turnSeconds }: Pick<Counters, 'turns' | 'turnSeconds'>,
  take: () => Promise<Turn>,
): Promise<Turn> {
  const began = performance.now()
  try {
    const turn = await take()
    turns.add(turn.next)
    return turn
  } catch (cause) {
    turns.add('trouble')
    throw cause
  } finally {
    turnSeconds.observe((performance.now() - began) / 1_000)
  }
}

/** Resolves when the agent has reported everything once, or does not answer for now. */
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

/** Only for databases that this server holds, each within its lease: the servers that hold the others hear of them. */
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
