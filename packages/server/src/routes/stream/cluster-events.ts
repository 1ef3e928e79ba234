import { setInterval, setTimeout } from 'node:timers'
import { type ClusterEvent, type NodeFacts, Refusal, StreamCut } from '@fairlead/api'
import type { Logger } from 'pino'
import { mayWatch, type Principal } from '../../core/identity/access.ts'
import { ENDPOINT_HOST } from '../../core/state/endpoint-reach.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { EventFeed, Watch } from '../../fleet/events/event-feed.ts'
import type { EventMarks } from '../../fleet/events/event-marks.ts'
import { changesStore } from '../../fleet/stores/changes-store.ts'
import { type EventsStore, eventsStore, type StoredEvent } from '../../fleet/stores/events-store.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import { MOST_BEHIND } from '../../store/event-numbers-store.ts'
import type { Store } from '../../store/open-store.ts'
import { showWithoutSecrets } from '../fleet/database-wire.ts'
import { type NodeAnswer, toWire } from './event-wire.ts'
import { type Asked, takeSnapshot } from './take-snapshot.ts'

/** A follower with its current permissions, which may change. */
export interface Viewer {
  user(): Principal
  /** Calls `listener` after the permissions have changed. */
  onChange(listener: () => void): void
}

/** The last event of a follower, and the mark in its id. */
export interface EventPlace {
  readonly seq: number
  readonly mark?: string | undefined
}

/** A cluster's events, for users who may see them. */
export interface ClusterEvents {
  /** The mark of an event; see event-marks.ts. */
  readonly markOf: EventMarks['of']
  /**
   * Yields events after `from`, each once and in order; a snapshot first without `from`, or if some are lost.
   * Never ends; throws StreamCut for a slow follower.
   */
  follow(
    asked: Asked,
    viewer: Viewer,
    from: EventPlace | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<ClusterEvent, void, undefined>
}

type SnapshotReason = Extract<ClusterEvent, { readonly type: 'snapshot' }>['reason']
const messages: Readonly<Record<SnapshotReason, string>> = {
  start: 'what is there now follows',
  gap: 'what came after the event that you have named is not known any more; what is there now follows',
  permissions: 'you may see other things now; what is there now follows',
}

const PAGE = 200
const LOOK_AT_NODES_MS = 5_000
/** A stopped agent is only noticed after seconds. */
const FIRST_LOOK_WITHIN_MS = 500

interface Source {
  readonly store: Store
  readonly marks: EventMarks
  readonly feed: EventFeed
  readonly databases: Pick<Databases, 'list' | 'get'>
  readonly nodes: Pick<Nodes, 'describe'>
  readonly now: () => number
  readonly log: Pick<Logger, 'warn'>
}

/**
 * One reader of the store (`feed`) serves all followers, and nodes are only observed for followers. `now` is
 * Unix milliseconds.
 */
export function createClusterEvents(source: Source): ClusterEvents {
  const show = createShow(source.databases)
  const watchNodes = createNodeWatch(source)
  return {
    markOf: source.marks.of,
    async *follow(asked, viewer, from, signal) {
      using _ = asked.topics.has('nodes') ? await watchNodes() : null
      for await (const event of follow(source, asked, viewer, from, signal)) {
        const shown = 'topic' in event ? await show(event) : event
        if (shown !== undefined) yield shown
      }
    },
  }
}

/** Yields events of the store and of the stream itself. */
async function* follow(
  source: Source,
  asked: Asked,
  viewer: Viewer,
  from: EventPlace | undefined,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent | ClusterEvent, void, undefined> {
  const events = eventsStore(source.store.db)
  const isMine = ({ topic, databaseUid }: StoredEvent) => mayWatch(viewer.user(), topic, databaseUid)
  using watch = source.feed.watch((event) => isAsked(event, asked))
  const rights = noteChanges(viewer, watch)
  let last = from?.seq ?? 0
  let reason = from === undefined ? ('start' as const) : await gapAfter(from, events, source.marks)
  while (!signal.aborted) {
    watch.sync()
    const upTo = await events.lastNumber()
    if (upTo < last) reason = 'gap' // the store lost events and uses their numbers again
    if (reason !== undefined) {
      rights.isOther = false
      yield* snapshot(source, asked, viewer, { reason, upTo })
      last = upTo
    }
    for await (const event of past(events, last, upTo)) {
      if (signal.aborted) return
      if (isAsked(event, asked) && isMine(event)) yield event
      last = event.seq
    }
    last = Math.max(last, upTo)
    reason = undefined
    if (watch.next(Number.POSITIVE_INFINITY) !== undefined) continue // more events arrived than are kept
    watch.sync()
    for await (const event of live(watch, { last: () => last, isOver: () => rights.isOther, signal })) {
      if (isMine(event)) yield event
      last = event.seq
    }
    if (rights.isOther) reason = 'permissions'
  }
}

/** Flags and wakes a follower when its permissions have changed. */
function noteChanges(viewer: Viewer, watch: Watch): { isOther: boolean } {
  const rights = { isOther: false }
  viewer.onChange(() => {
    rights.isOther = true
    watch.wake()
  })
  return rights
}

/** Yields new events until the store must be read again. Throws StreamCut if more arrived than are kept. */
async function* live(
  watch: Watch,
  { last, isOver, signal }: { last: () => number; isOver: () => boolean; signal: AbortSignal },
): AsyncGenerator<StoredEvent, void, undefined> {
  while (!signal.aborted && !isOver()) {
    const next = watch.next(last())
    if (next === 'behind') throw new StreamCut('slow_reader')
    if (next === 'reset') return
    if (next === undefined) await watch.news(signal)
    else yield next
  }
}

async function* snapshot(
  source: Source,
  asked: Asked,
  viewer: Viewer,
  { reason, upTo }: { readonly reason: SnapshotReason; readonly upTo: number },
): AsyncGenerator<ClusterEvent, void, undefined> {
  const time = new Date(source.now()).toISOString()
  yield { type: 'snapshot', time, reason, message: messages[reason] }
  yield* takeSnapshot(source, asked, viewer.user(), upTo)
  yield { seq: upTo, type: 'live', time }
}

async function* past(
  events: EventsStore,
  after: number,
  upTo: number,
): AsyncGenerator<StoredEvent, void, undefined> {
  for (let at = after; at < upTo; ) {
    const page = await events.between(at, upTo, PAGE)
    yield* page.events
    at = page.upTo
  }
}

async function gapAfter(
  { seq: from, mark }: EventPlace,
  events: EventsStore,
  marks: EventMarks,
): Promise<SnapshotReason | undefined> {
  if (mark !== undefined && mark !== marks.of(from)) return 'gap'
  const [last, gone] = [await events.lastNumber(), await events.goneNumber()]
  return from > last || from < gone || last - from > MOST_BEHIND ? 'gap' : undefined
}

function isAsked(event: StoredEvent, { topics, database }: Asked): boolean {
  return topics.has(event.topic) && (database === undefined || event.databaseUid === database)
}

/** Translates each event once for all followers. */
function createShow(
  databases: Pick<Databases, 'get'>,
): (event: StoredEvent) => Promise<ClusterEvent | undefined> {
  const known = new WeakMap<StoredEvent, Promise<ClusterEvent | undefined>>()
  const showDatabase = async (uid: number) => {
    try {
      return showWithoutSecrets(await databases.get(uid))
    } catch (cause) {
      if (cause instanceof Refusal && cause.code === 'db_not_exist') return null
      throw cause
    }
  }
  return (event) => {
    const shown = known.get(event) ?? toWire(event, showDatabase)
    known.set(event, shown)
    return shown
  }
}

/**
 * Observes nodes while followed: the store has no other events of them. Resolves after the first look, or
 * when it takes too long.
 */
function createNodeWatch(deps: {
  readonly store: Store
  readonly nodes: Pick<Nodes, 'describe'>
  readonly log: Pick<Logger, 'warn'>
}): () => Promise<Disposable> {
  let followers = 0
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  // Never two looks at a time: an earlier one must not overwrite a later one.
  const look = () => {
    looking ??= lookAtNodes(deps.store, deps.nodes)
      .catch((err: unknown) => deps.log.warn({ err }, 'the nodes could not be looked at'))
      .finally(() => {
        looking = undefined
      })
    return looking
  }
  return async () => {
    followers += 1
    timer ??= setInterval(() => void look(), LOOK_AT_NODES_MS)
    await unlessLate(look())
    return {
      [Symbol.dispose]: () => {
        followers -= 1
        if (followers > 0) return
        clearInterval(timer)
        timer = undefined
      },
    }
  }
}

/** Resolves after the look, or when it takes too long: a follower gets the known state then. */
async function unlessLate(looking: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, FIRST_LOOK_WITHIN_MS)
  try {
    await Promise.race([looking, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The only node: server and agent are on one machine. */
const THIS_NODE = 1

/** Observes the node, and records changes if there are any. */
async function lookAtNodes(store: Store, nodes: Pick<Nodes, 'describe'>): Promise<void> {
  const facts = await nodes.describe()
  const dataFrom = async (db: Store['db']) => {
    const known = (await changesStore(db).nodes()).find(({ uid }) => uid === THIS_NODE)?.data ?? undefined
    const data = JSON.stringify(factsOf(facts, known))
    return data === known ? undefined : data
  }
  if ((await dataFrom(store.db)) === undefined) return
  await store.transaction(async (db) => {
    // Another server may have recorded it already.
    const data = await dataFrom(db)
    if (data !== undefined) await changesStore(db).note('nodes', THIS_NODE, data)
  })
}

/** A node's event data; the last known while its agent does not answer. */
function factsOf(facts: NodeFacts | null, known: string | undefined): NodeAnswer {
  if (facts === null) {
    const last = known === undefined ? { addr: ENDPOINT_HOST } : (JSON.parse(known) as NodeAnswer) // written here
    const missing = { engine_wall: false, engine_wall_missing: 'the agent does not answer' }
    return { ...last, status: 'down', ...missing }
  }
  const missing = facts.noWall
  return {
    addr: facts.host,
    status: 'active',
    cores: facts.cores,
    total_memory: facts.memoryTotalBytes,
    engine_wall: missing === null,
    engine_wall_missing: missing === undefined ? 'the agent is older' : (missing ?? ''),
  }
}
