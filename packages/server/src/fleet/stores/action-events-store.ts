import type { SelectQueryBuilder } from 'kysely'
import type { ActionChange, ActionEvent, ActionNotice } from '../../core/state/action-event.ts'
import { type LanePatch, mergePatches } from '../../core/state/lane-record.ts'
import { eventNumbersStore } from '../../store/event-numbers-store.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn, wordColumn } from '../../store/stored-column.ts'
import { StoredLanePatches } from '../../store/stored-lane.ts'
import { StoredCertificate, StoredChange } from '../../store/stored-values.ts'
import type { Tables } from '../../store/tables.ts'

/** Maximum number of events per action. A waiting action writes one per second. */
export const MOST_KEPT = 2_000
/** Time that events are kept after their action's end. */
export const KEPT_DAYS = 30

/** An event and its database; null: the catalogue of modules. `event` undefined: damaged. */
export interface HeardEvent {
  readonly seq: number
  readonly actionUid: string
  readonly databaseUid: number | null
  /** Stored characters. */
  readonly size: number
  readonly event: ActionEvent | undefined
}

/** Events of actions, in order. Call `append` in the transaction of the reported change. */
export function actionEventsStore(db: Db) {
  const of = (actionUid: string) =>
    db.selectFrom('action_events').selectAll().where('action_uid', '=', actionUid)
  return {
    /** Adds the next event. Call it in the transaction of its change. */
    async append(actionUid: string, notice: ActionNotice, at: string): Promise<void> {
      // The counter first: concurrent servers serialize on its row, so numbers commit in order.
      const seq = await eventNumbersStore(db).next()
      await db
        .insertInto('action_events')
        .values({ seq, action_uid: actionUid, at, type: notice.type, data: JSON.stringify(dataOf(notice)) })
        .execute()
      // A handover is written during a hold, so other events remove old ones.
      if (notice.type !== 'handover') await dropOverflow(db, actionUid)
    },
    /** Events of an action after number `seq`, in order. */
    async listAfter(actionUid: string, seq: number, limit: number): Promise<readonly ActionEvent[]> {
      return (await of(actionUid).where('seq', '>', seq).orderBy('seq').limit(limit).execute()).map(fromRow)
    },
    /** Events of all actions after one place and up to another, in order. */
    async between(after: number, upTo: number, limit: number): Promise<readonly HeardEvent[]> {
      const rows = await db
        .selectFrom('action_events')
        .leftJoin('actions', 'actions.uid', 'action_events.action_uid')
        .selectAll('action_events')
        .select('actions.database_uid')
        .where('action_events.seq', '>', after)
        .where('action_events.seq', '<=', upTo)
        .orderBy('action_events.seq')
        .limit(limit)
        .execute()
      return rows.map(heard)
    },
    /** Removes events of actions that ended more than KEPT_DAYS before `now`. */
    async dropOld(now: string): Promise<void> {
      const oldest = await db
        .selectFrom('action_events')
        .select('at')
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst()
      if (oldest === undefined) return
      const before = new Date(Date.parse(now) - KEPT_DAYS * DAY_MS).toISOString()
      const ended = db
        .selectFrom('actions')
        .select('uid')
        .where('status', 'in', ['done', 'failed'])
        .where('changed_at', '<', before)
        .where('changed_at', '>=', oldest.at) // those that ended earlier have none left
      await remove(db, ended)
      const ofModules = db
        .selectFrom('module_actions')
        .select('uid')
        .where('created_at', '<', before)
        .where('created_at', '>=', oldest.at)
      await remove(db, ofModules)
    },
  }
}

type Uids = { readonly uid: string }

async function remove(db: Db, actions: SelectQueryBuilder<Tables, keyof Tables, Uids>): Promise<void> {
  const gone = db.deleteFrom('action_events').where('action_uid', 'in', actions).returning('seq')
  const last = (await gone.execute()).reduce((max, { seq }) => Math.max(max, seq), 0)
  if (last > 0) await eventNumbersStore(db).noteGone(last)
}

function heard(row: Tables['action_events'] & { readonly database_uid: number | null }): HeardEvent {
  const { seq, action_uid: actionUid, database_uid: databaseUid, data } = row
  return { seq, actionUid, databaseUid, size: data.length, event: readable(row) }
}

/** A damaged row is an error only for readers of its action. */
function readable(row: Tables['action_events']): ActionEvent | undefined {
  try {
    return fromRow(row)
  } catch {
    return undefined
  }
}

/** Combines an action's events to one change and one patch per lane. */
export function mergeEvents(events: readonly ActionEvent[]): {
  readonly change: ActionChange
  readonly lanes: readonly LanePatch[]
} {
  const changes = events.flatMap((event) => (event.type === 'action' ? [event.change] : []))
  const lanes = events.flatMap((event) => (event.type === 'lanes' ? event.lanes : []))
  return { change: Object.assign({}, ...changes), lanes: joinPatches(lanes) }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Removes events beyond MOST_KEPT, merged into the oldest kept one, so that readers miss nothing. */
async function dropOverflow(db: Db, actionUid: string): Promise<void> {
  const events = (order: 'asc' | 'desc') =>
    db.selectFrom('action_events').selectAll().where('action_uid', '=', actionUid).orderBy('seq', order)
  const newestToGo = await events('desc').offset(MOST_KEPT).limit(1).executeTakeFirst()
  if (newestToGo === undefined) return

  const kept = await mergeGone(db, actionUid, newestToGo.seq)
  await db
    .deleteFrom('action_events')
    .where('action_uid', '=', actionUid)
    .where('seq', '<=', newestToGo.seq)
    .where('seq', 'not in', [...kept, 0])
    .execute()
}

/**
 * Merges the events up to `lastGone` into the first later ones of their type; without one, into the last of
 * them, which stays and is returned.
 */
async function mergeGone(db: Db, actionUid: string, lastGone: number): Promise<readonly number[]> {
  const merge = async (
    type: 'action' | 'lanes',
    join: (rows: readonly Tables['action_events'][]) => object,
  ) => {
    const rows = () =>
      db
        .selectFrom('action_events')
        .selectAll()
        .where('action_uid', '=', actionUid)
        .where('type', '=', type)
        .orderBy('seq')
    const gone = await rows().where('seq', '<=', lastGone).execute()
    const kept = await rows().where('seq', '>', lastGone).limit(1).executeTakeFirst()
    const all = [...gone, ...(kept === undefined ? [] : [kept])]
    const last = all.at(-1)
    if (gone.length === 0 || last === undefined) return []
    const data = JSON.stringify(join(all))
    if (data !== last.data)
      await db.updateTable('action_events').set({ data }).where('seq', '=', last.seq).execute()
    return kept === undefined ? [last.seq] : []
  }
  const ofAction = await merge(
    'action',
    (rows): ActionChange => Object.assign({}, ...rows.map(({ data, seq }) => changeOf(data, seq))),
  )
  const ofLanes = await merge('lanes', (rows) =>
    joinPatches(rows.flatMap(({ data, seq }) => patchesOf(data, seq))),
  )
  return [...ofAction, ...ofLanes]
}

/** One patch per lane, in order. */
function joinPatches(patches: readonly LanePatch[]): readonly LanePatch[] {
  const byGroup = Map.groupBy(patches, ({ group }) => group)
  return [...byGroup.values()].map((of) => of.reduce(mergePatches))
}

function dataOf(notice: ActionNotice): object {
  if (notice.type === 'lanes') return notice.lanes
  return notice.type === 'action' ? notice.change : notice.certificate
}

const typeOf = wordColumn('action_events', 'type', ['action', 'lanes', 'handover'])
const changeOf = jsonColumn('action_events', 'data', StoredChange)
const patchesOf = jsonColumn('action_events', 'data', StoredLanePatches)
const certificateOf = jsonColumn('action_events', 'data', StoredCertificate)

function fromRow({ seq, action_uid, at, type, data }: Tables['action_events']): ActionEvent {
  const place = { seq, actionUid: action_uid, at }
  switch (typeOf(type, seq)) {
    case 'handover':
      return {
        ...place,
        type: 'handover',
        certificate: { keys: null, heldMs: null, ...certificateOf(data, seq) },
      }
    case 'lanes':
      return { ...place, type: 'lanes', lanes: patchesOf(data, seq) }
    case 'action':
      return { ...place, type: 'action', change: changeOf(data, seq) }
  }
}
