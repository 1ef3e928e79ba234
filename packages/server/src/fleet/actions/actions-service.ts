import { BUCKET_MS, type HandoverTape, type HandoverTrace, Refusal } from '@fairlead/api'
import { may, type Principal } from '../../core/identity/access.ts'
import type { ModuleAction } from '../../core/modules/module.ts'
import {
  type ActionsFilter,
  type ActionsOrder,
  type Place,
  pageInMemory,
} from '../../core/requests/list-order.ts'
import type { Certificate } from '../../core/state/action.ts'
import { type ActionEvent, hasEnded } from '../../core/state/action-event.ts'
import { tapeDue } from '../../core/state/handover.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { createEventFeed, type EventFeed, type Watch } from '../events/event-feed.ts'
import { actionEventsStore } from '../stores/action-events-store.ts'
import { type ActionsStore, actionsStore } from '../stores/actions-store.ts'
import type { ActionsQuery } from '../stores/chosen-actions-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import { handoverTapesStore } from '../stores/handover-tapes-store.ts'
import { handoversStore } from '../stores/handovers-store.ts'
import { moduleActionsStore } from '../stores/module-actions-store.ts'
import { createDatabaseViews, type DatabaseActionView } from './database-views.ts'

/** An action of a database or of the catalogue of modules. */
export type ActionView = DatabaseActionView | { readonly of: 'module'; readonly action: ModuleAction }

export type Actions = ReturnType<typeof createActions>

/**
 * Reads actions of databases and of the catalogue of modules. Reads from `store` on each call; remembers only
 * followers.
 */
export function createActions({
  store,
  now = Date.now,
  feed = createEventFeed(store),
}: {
  readonly store: Store
  readonly feed?: EventFeed
  /** Unix milliseconds. */
  readonly now?: () => number
}) {
  const actions = actionsStore(store.db)
  const ofModules = moduleActionsStore(store.db)
  const events = actionEventsStore(store.db)
  const databases = databasesStore(store.db)

  const views = createDatabaseViews(store.db, now)
  const list = async (query: ActionsQuery): Promise<readonly ActionView[]> =>
    views.all(await actions.list(query))

  return {
    /** Throws Refusal action_not_exist. */
    async get(uid: string): Promise<ActionView> {
      const action = await actions.get(uid)
      if (action !== undefined) return views.one(action)
      const ofModule = await ofModules.get(uid)
      if (ofModule !== undefined) return { of: 'module', action: ofModule }
      throw new Refusal('action_not_exist', `action ${uid} does not exist`)
    },

    /** Clients' view of handover `n` (from 1 on). Throws Refusal trace_not_exist or trace_not_ready. */
    trace: (uid: string, n: number) => readTrace({ uid, n }, store.db, now()),

    /** The database of an action; undefined: there is no such action of a database. */
    databaseOf: async (uid: string) => (await actions.get(uid))?.databaseUid,

    /** Actions that this user may see. */
    async list(query: Omit<ActionsQuery, 'databases'>, user: Principal): Promise<readonly ActionView[]> {
      if (!maySee(user, NO_DATABASE)) return list({ ...query, databases: databasesOf(user) })
      // Merges two lists: a page may begin anywhere in either.
      const { limit, offset = 0, after: _, ...page } = query
      const beginning = { ...query, offset: 0, ...(limit !== undefined && { limit: offset + limit }) }
      const added = hasModules(query) ? await ofModules.list(beginning) : []
      if (added.length === 0) return list(query)
      const found = [
        ...(await list(beginning)),
        ...added.map((action) => ({ of: 'module' as const, action })),
      ]
      return pageInMemory(found, { ...page, offset, ...(limit !== undefined && { limit }) }, placeOfAction)
    },

    /** Actions of one database. Throws Refusal db_not_exist. */
    async listOf(
      databaseUid: number,
      query: Omit<ActionsQuery, 'databases'>,
    ): Promise<readonly ActionView[]> {
      if ((await databases.get(databaseUid)) === undefined) {
        throw new Refusal('db_not_exist', `database ${databaseUid} does not exist`)
      }
      return list({ ...query, databases: [databaseUid] })
    },

    /**
     * Yields the events of an action after number `seq` (0: all), each once and in order, until its end or
     * `signal` aborts. Reads no more than is consumed.
     */
    follow: (uid: string, seq: number, signal: AbortSignal) =>
      followAction({ actions, events, feed }, uid, seq, signal),
  }
}

/** Returns whether the filter can match actions of modules: complete when recorded, without a database. */
function hasModules({ status, phase, outcome, database, q }: ActionsFilter): boolean {
  const isCompleted = (status ?? 'done') === 'done' && (outcome ?? 'completed') === 'completed'
  return isCompleted && (phase ?? 'ended') === 'ended' && database === undefined && q === undefined
}

/** The place of an action in a list. */
export function placeOfAction(view: ActionView, by: ActionsOrder['by']): Place {
  const { createdAt, uid } = view.action
  const isChange = by === 'last_changed_time' && view.of === 'database'
  return { value: isChange ? view.action.changedAt : createdAt, uid }
}

/** Means all databases: hidden from users limited to some. */
const NO_DATABASE = 0

function databasesOf(user: Principal): readonly number[] {
  return user.grants.flatMap(({ databases }) => databases ?? []).filter((uid) => maySee(user, uid))
}

function maySee(user: Principal, databaseUid: number): boolean {
  return may(user, 'view_status_of_cluster_action', databaseUid)
}

interface Sources {
  readonly actions: ActionsStore
  readonly events: ReturnType<typeof actionEventsStore>
  readonly feed: EventFeed
}

/** Events per query. */
const PAGE = 100

/** Yields an action's events after number `seq`, each once and in order: stored ones, then new ones. */
async function* followAction(
  { actions, events, feed }: Sources,
  uid: string,
  seq: number,
  signal: AbortSignal,
): AsyncGenerator<ActionEvent, void, undefined> {
  using watch = feed.watch((event) => event.topic === 'actions' && event.actionUid === uid)
  let last = seq
  while (!signal.aborted) {
    watch.sync()
    // Read first, so that the events read below include its end.
    const action = await actions.get(uid)
    let ends = false
    for (let isAll = false; !isAll; ) {
      const page = await events.listAfter(uid, last, PAGE)
      for (const event of page) {
        if (signal.aborted) return
        yield event
        last = event.seq
        ends ||= isEnd(event)
      }
      isAll = page.length < PAGE
    }
    if (action === undefined || hasEnded(action)) return
    if (ends) continue // it ended after the read of its state
    for await (const event of live(watch, () => last, signal)) {
      yield event
      last = event.seq
    }
  }
}

/** Yields new events until the store must be read again: after the action's end, or a missed event. */
async function* live(watch: Watch, last: () => number, signal: AbortSignal): AsyncGenerator<ActionEvent> {
  while (!signal.aborted) {
    const next = watch.next(last())
    if (next === undefined) {
      await watch.news(signal)
      continue
    }
    if (next === 'behind' || next === 'reset' || next.topic !== 'actions' || next.event === undefined) return
    yield next.event
    if (isEnd(next.event)) return
  }
}

function isEnd(event: ActionEvent): boolean {
  if (event.type !== 'action') return false
  const { status } = event.change
  return status !== undefined && hasEnded({ status })
}

/**
 * Reads clients' view of handover `n` (from 1 on). Throws Refusal trace_not_exist, or trace_not_ready while
 * the endpoint still counts. `now` is Unix milliseconds.
 */
export async function readTrace({ uid, n }: Which, db: Db, now: number): Promise<HandoverTrace> {
  const certified = await handoversStore(db).certified(uid)
  const handover = certified[n - 1]
  if (handover === undefined) throw missing(`the action has ${certified.length} certificate(s)`)
  const { certificate, id } = handover
  const { began, parts, heldMs } = certificate
  if (certificate.recovered) throw missing('the handover was interrupted by a crash')
  if (parts === undefined || began === undefined || heldMs === null)
    throw missing('the database has no endpoint, its proxy was away, or the handover is older than traces')
  const tape = await handoverTapesStore(db).get(id)
  if (tape !== undefined) return traceOf({ uid, n }, { ...certificate, began, parts }, tape)
  if (tapeDue(handover, now) !== undefined)
    throw new Refusal('trace_not_ready', 'the endpoint still counts: ask again in a few seconds')
  throw missing('the proxy was replaced right after the handover, or many handovers came later')
}

function missing(why: string): Refusal {
  return new Refusal('trace_not_exist', `there is no trace of this handover: ${why}`)
}

type Complete = Certificate & Required<Pick<Certificate, 'began' | 'parts'>>
/** The handover with certificate number `n` of the action `uid`. */
interface Which {
  readonly uid: string
  readonly n: number
}

function traceOf(
  { uid, n }: Which,
  { began, parts, from, to, group }: Complete,
  { leadMs, replies, held, errors }: HandoverTape,
): HandoverTrace {
  let at = leadMs + began.moveAfterMs
  const next = (ms: number) => {
    const part = { from: round(at), to: round(at + ms) }
    at += ms
    return part
  }
  return {
    action_uid: uid,
    handover: n,
    group: group ?? null,
    from: String(from),
    to: String(to),
    t0: new Date(began.holdAt - leadMs).toISOString(),
    bucket_ms: BUCKET_MS,
    replies,
    held,
    errors,
    marks: {
      hold: { from: round(leadMs), to: round(leadMs + parts.hold) },
      pause: next(parts.pause),
      equal: next(parts.equal),
      promote: next(parts.promote),
      release: next(parts.release),
    },
  }
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
