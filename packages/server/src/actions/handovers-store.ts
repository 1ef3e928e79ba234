import type { Certificate } from '../core/action.ts'
import type { Standby } from '../core/topology.ts'
import { nextId } from '../store/next-id.ts'
import type { Db } from '../store/open-store.ts'
import type { Tables } from '../store/tables.ts'

/** A handover on record: the intent before the first command, then what it led to. */
export interface Handover {
  readonly id: number
  readonly databaseUid: number
  readonly group: number
  readonly actionUid: string | null
  readonly from: number
  readonly to: number
  /** Full syncs that each member had served before, by shard id. */
  readonly fullSyncsBefore: Readonly<Record<string, number>>
  readonly intendedAt: string
  /** The old primary as it was when it became a replica. */
  readonly standby: Standby
  readonly released: boolean
  /** Nothing of it is left to do. */
  readonly closed: boolean
  readonly certificate: Certificate | null
}

export interface HandoversStore {
  open(databaseUid: number, group: number): Promise<Handover | undefined>
  /** Of each group of a database the last one that moved the role, or the open one; by group. */
  last(databaseUid: number): Promise<ReadonlyMap<number, Handover>>
  /** Certificates of an action, in the order in which they were given. */
  certificates(actionUid: string): Promise<readonly Certificate[]>
  intend(intent: Omit<Handover, 'id' | 'released' | 'closed' | 'certificate'>): Promise<Handover>
  certify(id: number, certificate: Certificate): Promise<void>
  release(id: number): Promise<void>
  close(id: number, certificate: Certificate | null): Promise<void>
}

export function handoversStore(db: Db): HandoversStore {
  const update = (id: number) => db.updateTable('handovers').where('id', '=', id)
  return {
    async open(databaseUid, group) {
      const row = await db
        .selectFrom('handovers')
        .selectAll()
        .where('database_uid', '=', databaseUid)
        .where('group_number', '=', group)
        .where('closed', '=', 0)
        .executeTakeFirst()
      return row && fromRow(row)
    },
    async last(databaseUid) {
      const newest = db
        .selectFrom('handovers')
        .select((row) => row.fn.max('id').as('id'))
        .where('database_uid', '=', databaseUid)
        .where((is) => is.or([is('closed', '=', 0), is('certificate', 'is not', null)]))
        .groupBy('group_number')
      const rows = await db.selectFrom('handovers').selectAll().where('id', 'in', newest).execute()
      return new Map(rows.map((row) => [row.group_number, fromRow(row)]))
    },
    async certificates(actionUid) {
      const rows = await db
        .selectFrom('handovers')
        .select('certificate')
        .where('action_uid', '=', actionUid)
        .where('certificate', 'is not', null)
        .orderBy('id')
        .execute()
      return rows.map((row) => JSON.parse(row.certificate ?? '') as Certificate)
    },
    async intend(intent) {
      const id = await nextId(db, 'handover')
      await db
        .insertInto('handovers')
        .values({
          id,
          database_uid: intent.databaseUid,
          group_number: intent.group,
          action_uid: intent.actionUid,
          from_shard: intent.from,
          to_shard: intent.to,
          full_syncs_before: JSON.stringify(intent.fullSyncsBefore),
          intended_at: intent.intendedAt,
          standby: JSON.stringify(intent.standby),
          released: 0,
          certificate: null,
          closed: 0,
        })
        .execute()
      return { ...intent, id, released: false, closed: false, certificate: null }
    },
    async certify(id, certificate) {
      await update(id)
        .set({ certificate: JSON.stringify(certificate), released: 1 })
        .execute()
    },
    async release(id) {
      await update(id).set({ released: 1 }).execute()
    },
    async close(id, certificate) {
      await update(id)
        .set({ released: 1, closed: 1, certificate: certificate && JSON.stringify(certificate) })
        .execute()
    },
  }
}

function fromRow(row: Tables['handovers']): Handover {
  return {
    id: row.id,
    databaseUid: row.database_uid,
    group: row.group_number,
    actionUid: row.action_uid,
    from: row.from_shard,
    to: row.to_shard,
    fullSyncsBefore: JSON.parse(row.full_syncs_before) as Handover['fullSyncsBefore'],
    intendedAt: row.intended_at,
    standby: row.standby === null ? unknownStandby(row) : (JSON.parse(row.standby) as Standby),
    released: row.released === 1,
    closed: row.closed === 1,
    certificate: row.certificate === null ? null : (JSON.parse(row.certificate) as Certificate),
  }
}

/** On record from a version that did not note it: no process has an empty id, so nobody is taken for it. */
function unknownStandby(row: Tables['handovers']): Standby {
  return { shard: row.from_shard, runId: '', errorReplies: 0 }
}
