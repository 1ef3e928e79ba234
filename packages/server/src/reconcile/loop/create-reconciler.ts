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
import { handlePassFailure } from './handle-pass-failure.ts'
import { type HearingPorts, hearChanges, type Listener } from './hear-changes.ts'
import { createHeldPorts, type GivenPorts } from './held-ports.ts'
import { type Loop, startLoop } from './loop.ts'
import { reconcileDatabase, type Turn } from './reconcile-database.ts'
import { shareQueue, withQueue } from './shared-queue.ts'
import type { Queue } from './slots.ts'
import { takeTurn } from './take-turn.ts'

/** Dependencies besides the ports of a turn. */
interface ReconcilerDeps
  extends DatabaseRecords<'listReserved'>,
    ShardRecords<'databasesOf'>,
    ActionRecords<'listActive'> {
  readonly log: Logger
  readonly leases: Leases
  readonly recordsUnder: (databaseUid: number, epoch: number) => Records
  readonly reaches: Pick<Reaches, 'work' | 'rest'>
  /** Undefined: no tracing. */
  readonly recordSpan: RecordSpan | undefined
  readonly counters: CountersOfRecords & Pick<Counters, 'turns' | 'turnSeconds'>
  /** Undefined if no other server shares the store. */
  readonly orders: OrdersOnRecord | undefined
  /** A link for long polls: the agent answers when something changes. */
  readonly hearing: HearingPorts['agent']
}

/** The turns of all databases. Dispose to end the running ones and wait for them. */
export interface Reconciler extends Loop {
  /** Nudges every database after a change that concerns all of them. */
  nudgeAll(): Promise<void>
}

/** Longest wait of the first turns for the agent's first report. */
const FIRST_WITHIN_MS = 1_000

/** Starts the turns of each database that this server holds or takes over later, and of each nudged one. */
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
        // A database with work in progress, or with trouble, keeps its connections between turns.
        if (turn.next !== 'again') reaches.rest(uid)
        return turn
      },
      trouble: async (uid, cause, timesInARow) =>
        handlePassFailure(uid, cause, timesInARow, held.of(uid).ports),
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
  // Done first: the primaries' offsets must be on record before a turn finds one of them dead.
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

/** Counts a turn and its duration. */
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

/** Resolves when the agent has reported everything once, or does not answer. */
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
    agent: given.hearing,
    shards: given.shards,
    time: realTime,
    log: given.log,
    databases: { listReserved, advanceHistories },
  }
  const hearing = hearChanges(ports, { ...listener, asked: asked.resolve }, end.signal)
  opened.defer(async () => {
    end.abort(new Error('the server stops'))
    await hearing
  })
  await Promise.race([asked.promise, realTime.pause(FIRST_WITHIN_MS, end.signal).catch(() => undefined)])
}

/** Only for databases that this server holds, within their leases: other servers hear of theirs. */
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
