import { type ActionPhase, ActionState, actionPhases } from '@fairlead/api'
import { codeOf, currentTraceparent } from '@fairlead/engine'
import { type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import { changed } from '../../core/progress/changed.ts'
import type { Queued } from '../../core/requests/admit-upgrade.ts'
import type { Action, ActionNews } from '../../core/state/action.ts'
import { changeOf, visibleOf } from '../../core/state/action-event.ts'
import { patchOf } from '../../core/state/lane-record.ts'
import { noOrders } from '../../core/state/orders.ts'
import { inTransaction } from '../../store/in-transaction.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn, wordColumn } from '../../store/stored-column.ts'
import { StoredWaiting } from '../../store/stored-lane.ts'
import {
  StoredGoal,
  StoredOrders,
  StoredPending,
  StoredWayBack,
  storedHoldReasons,
} from '../../store/stored-values.ts'
import type { Tables } from '../../store/tables.ts'
import { actionEventsStore } from './action-events-store.ts'
import { actionLanesStore } from './action-lanes-store.ts'
import { type ActionsQuery, chooseActions } from './chosen-actions-store.ts'

/** A new action. */
export type NewAction = Pick<Action, 'uid' | 'databaseUid' | 'kind' | 'goal'> &
  Partial<Pick<Action, 'request' | 'requestedBy'>>

/** The store refused a second active action on a database. */
export class ActiveActionExists extends Error {
  override readonly name = 'ActiveActionExists'
}

export type ActionsStore = ReturnType<typeof actionsStore>

/**
 * Stores actions. Visible changes also write an event, in the same transaction. Rows of `actions`; `db` may
 * be a transaction.
 */
export function actionsStore(db: Db) {
  const all = () => db.selectFrom('actions').selectAll()
  return {
    async get(uid: string): Promise<Action | undefined> {
      const row = await all().where('uid', '=', uid).executeTakeFirst()
      return row && fromRow(row)
    },
    /** The running action of a database, if any. */
    async active(databaseUid: number): Promise<Action | undefined> {
      const row = await all().where('database_uid', '=', databaseUid).where(isActive).executeTakeFirst()
      return row && fromRow(row)
    },
    /** Running actions by database. */
    async activeOf(databaseUids: readonly number[]): Promise<ReadonlyMap<number, Action>> {
      if (databaseUids.length === 0) return new Map()
      const query = all()
        .where('database_uid', 'in', [...databaseUids])
        .where(isActive)
      return new Map((await query.execute()).map((row) => [row.database_uid, fromRow(row)]))
    },
    /** Only the fields that the queue of upgrades needs, so that an unreadable action delays no other. */
    async listActive(): Promise<readonly (Queued & { readonly databaseUid: number })[]> {
      const rows = await db
        .selectFrom('actions')
        .select(['uid', 'database_uid', 'kind', 'status', 'step', 'needs_person', 'created_at'])
        .where(isActive)
        .execute()
      return rows.map(({ needs_person, created_at, database_uid, ...row }) => ({
        ...row,
        databaseUid: database_uid,
        needsPerson: needs_person === 1,
        createdAt: created_at,
      }))
    },
    list: async (query: ActionsQuery) => (await chooseActions(db, query).execute()).map(fromRow),
    /** Throws ActiveActionExists while another action runs on the database. */
    async insert(action: NewAction, now: string): Promise<void> {
      await inTransaction(db, (within) => insert(within, action, now))
    },
    async update(uid: string, news: ActionNews, now: string): Promise<void> {
      await inTransaction(db, (within) => update(within, uid, news, now))
    },
  }
}

/** Like in the index of active actions: with parameters, SQLite would not use it. */
const isActive = sql<SqlBool>`status in ('queued', 'running')`

async function insert(
  db: Db,
  { uid, databaseUid, kind, goal, request, requestedBy }: NewAction,
  now: string,
): Promise<void> {
  const row = {
    uid,
    database_uid: databaseUid,
    kind,
    goal: JSON.stringify(goal),
    asked: JSON.stringify(goal),
    orders: JSON.stringify(noOrders),
    request: request == null ? null : JSON.stringify(request),
    requested_by: requestedBy ?? null,
    traceparent: currentTraceparent() ?? null,
    created_at: now,
    changed_at: now,
    ...beginning,
  }
  try {
    await db.insertInto('actions').values(row).execute()
  } catch (cause) {
    if (isUniqueViolation(cause))
      throw new ActiveActionExists(`an action runs on database ${databaseUid}`, { cause })
    throw cause
  }
  const events = actionEventsStore(db)
  await events.dropOld(now)
  await events.append(uid, { type: 'action', change: visibleOf(fromRow(row)) }, now)
}

async function update(db: Db, uid: string, news: ActionNews, now: string): Promise<void> {
  const before = await actionsStore(db).get(uid)
  if (before === undefined) return
  const after = changed(before, news, now)
  const { phase, beganAt, endedAt } = after
  await db
    .updateTable('actions')
    .set({ ...toColumns(news), phase, began_at: beganAt, ended_at: endedAt, changed_at: now })
    .where('uid', '=', uid)
    .execute()
  const events = actionEventsStore(db)
  const change = changeOf(visibleOf(before), visibleOf(after))
  if (change !== undefined) await events.append(uid, { type: 'action', change }, now)
  if (news.lanes === undefined) return
  const known = await actionLanesStore(db).of(uid)
  await actionLanesStore(db).put(uid, news.lanes)
  const lanes = news.lanes.flatMap(
    (lane) =>
      patchOf(
        known.find(({ group }) => group === lane.group),
        lane,
      ) ?? [],
  )
  if (lanes.length > 0) await events.append(uid, { type: 'lanes', lanes }, now)
}

const beginning = {
  status: 'queued',
  progress: 0,
  step: '',
  way_back: 'null',
  warnings: '[]',
  handed_over_at: null,
  hold_reason: null,
  waiting_for: '',
  needs_person: 0,
  pending: '[]',
  error: null,
  waiting: null,
  handing_over: 0,
  phase: 'queued',
  ending: null,
  began_at: null,
  ended_at: null,
}

/** SQLite names the constraint, PostgreSQL gives a number. */
function isUniqueViolation(cause: unknown): boolean {
  return ['SQLITE_CONSTRAINT_UNIQUE', '23505'].includes(codeOf(cause))
}

function toColumns(news: ActionNews): Partial<Tables['actions']> {
  return {
    ...(news.status !== undefined && { status: news.status }),
    ...(news.goal !== undefined && { goal: JSON.stringify(news.goal) }),
    ...(news.orders !== undefined && { orders: JSON.stringify(news.orders) }),
    ...(news.handedOverAt !== undefined && { handed_over_at: news.handedOverAt }),
    ...(news.wayBack !== undefined && { way_back: JSON.stringify(news.wayBack) }),
    ...(news.warnings !== undefined && { warnings: JSON.stringify(news.warnings) }),
    ...(news.progress !== undefined && { progress: news.progress }),
    ...(news.step !== undefined && { step: news.step }),
    ...(news.holdReason !== undefined && { hold_reason: news.holdReason }),
    ...(news.waitingFor !== undefined && { waiting_for: news.waitingFor }),
    ...(news.needsPerson !== undefined && { needs_person: Number(news.needsPerson) }),
    ...(news.pending !== undefined && { pending: JSON.stringify(news.pending) }),
    ...(news.error !== undefined && { error: news.error }),
    ...(news.ending !== undefined && { ending: news.ending }),
    ...(news.waiting !== undefined && { waiting: news.waiting && JSON.stringify(news.waiting) }),
    ...(news.handingOver !== undefined && { handing_over: Number(news.handingOver) }),
  }
}

const kindOf = wordColumn('actions', 'kind', ['create', 'upgrade', 'change', 'delete'])
const statusOf = wordColumn('actions', 'status', ['queued', 'running', 'done', 'failed'])
const goalOf = jsonColumn('actions', 'goal', StoredGoal)
const askedOf = jsonColumn('actions', 'asked', StoredGoal)
const ordersOf = jsonColumn('actions', 'orders', StoredOrders)
const wayBackOf = jsonColumn('actions', 'way_back', Type.Union([StoredWayBack, Type.Null()]))
const warningsOf = jsonColumn('actions', 'warnings', Type.Array(Type.String()))
const stepOf = wordColumn('actions', 'step', ActionState.enum)
const holdReasonOf = wordColumn('actions', 'hold_reason', storedHoldReasons)
const phaseIn = wordColumn('actions', 'phase', Object.keys(actionPhases) as ActionPhase[]) // its keys
const endingOf = wordColumn('actions', 'ending', ['rolled_back', 'cancelled', 'failed'])
const waitingOf = jsonColumn('actions', 'waiting', StoredWaiting)
const requestOf = jsonColumn('actions', 'request', Type.Record(Type.String(), Type.Unknown()))
const pendingOf = jsonColumn('actions', 'pending', StoredPending)

function fromRow(row: Tables['actions']): Action {
  const wayBack = wayBackOf(row.way_back, row.uid)
  return {
    uid: row.uid,
    databaseUid: row.database_uid,
    kind: kindOf(row.kind, row.uid),
    status: statusOf(row.status, row.uid),
    goal: goalOf(row.goal, row.uid),
    asked: askedOf(row.asked, row.uid),
    orders: ordersOf(row.orders, row.uid),
    handedOverAt: row.handed_over_at,
    wayBack: wayBack && { obstacle: null, ...wayBack },
    warnings: warningsOf(row.warnings, row.uid),
    progress: row.progress,
    step: stepOf(row.step, row.uid),
    holdReason: row.hold_reason === null ? null : holdReasonOf(row.hold_reason, row.uid),
    waitingFor: row.waiting_for,
    needsPerson: row.needs_person === 1,
    pending: pendingOf(row.pending, row.uid),
    error: row.error,
    waiting: row.waiting === null ? null : waitingOf(row.waiting, row.uid),
    handingOver: row.handing_over === 1,
    phase: phaseIn(row.phase, row.uid),
    ending: row.ending === null ? null : endingOf(row.ending, row.uid),
    request: row.request === null ? null : requestOf(row.request, row.uid),
    requestedBy: row.requested_by,
    beganAt: row.began_at,
    endedAt: row.ended_at,
    trace: row.traceparent ?? undefined,
    createdAt: row.created_at,
    changedAt: row.changed_at,
  }
}
