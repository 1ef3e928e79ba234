import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Certificate } from '../../core/state/action.ts'
import type { Handover } from '../../core/state/handover.ts'
import type { Standby } from '../../core/state/topology.ts'
import { inTransaction } from '../../store/in-transaction.ts'
import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'
import { StoredCertificate } from '../../store/stored-values.ts'
import type { Tables } from '../../store/tables.ts'
import { actionEventsStore } from './action-events-store.ts'
import { changesStore } from './changes-store.ts'

/** A handover that has moved the role. */
export interface Certified {
  readonly id: number
  readonly certificate: Certificate
}

type Intent = Omit<Handover, 'id' | 'released' | 'closed' | 'certificate'>

/**
 * Handovers: intended, released, closed with or without a certificate. Rows of `handovers` with their
 * certificates; `db` may be a transaction.
 */
export function handoversStore(db: Db) {
  return {
    async open(databaseUid: number, group: number): Promise<Handover | undefined> {
      const row = await db
        .selectFrom('handovers')
        .selectAll()
        .where('database_uid', '=', databaseUid)
        .where('group_number', '=', group)
        .where('closed', '=', sql.lit(0)) // as in the index of open ones
        .executeTakeFirst()
      return row && fromRow(row)
    },
    /** The open or last successful handover of each group. */
    async last(databaseUid: number): Promise<ReadonlyMap<number, Handover>> {
      const newest = db
        .selectFrom('handovers')
        .select((row) => row.fn.max('id').as('id'))
        .where('database_uid', '=', databaseUid)
        .where((is) => is.or([is('closed', '=', 0), is('certificate', 'is not', null)]))
        .groupBy('group_number')
      const rows = await db.selectFrom('handovers').selectAll().where('id', 'in', newest).execute()
      return new Map(rows.map((row) => [row.group_number, fromRow(row)]))
    },
    /** Certificates of an action, in order. */
    certificates: async (actionUid: string) => (await certificatesOf(db, [actionUid])).get(actionUid) ?? [],
    /** The handovers of these certificates. */
    certified: async (actionUid: string) => (await certifiedOf(db, [actionUid])).get(actionUid) ?? [],
    /** Certificates by uid of the action; actions without any are omitted. */
    certificatesOf: (actionUids: readonly string[]) => certificatesOf(db, actionUids),
    async intend(intent: Intent): Promise<Handover> {
      const id = await nextId(db, 'handover')
      await db.insertInto('handovers').values(toRow(id, intent)).execute()
      return { ...intent, id, released: false, closed: false, certificate: null }
    },
    /** Records a moved role. Like `close`, adds an event to the action. */
    async certify(id: number, certificate: Certificate): Promise<void> {
      await inTransaction(db, async (within) => {
        await update(within, id)
          .set({ certificate: JSON.stringify(certificate), released: 1 })
          .execute()
        await reportCertificate(within, id, certificate, certificate.at)
      })
    },
    async release(id: number): Promise<void> {
      await update(db, id).set({ released: 1 }).execute()
    },
    async close(id: number, certificate: Certificate | null, now: string): Promise<void> {
      await inTransaction(db, async (within) => {
        await update(within, id)
          .set({ released: 1, closed: 1, certificate: certificate && JSON.stringify(certificate) })
          .execute()
        if (certificate === null) return
        await reportCertificate(within, id, certificate, now)
        const place = within.selectFrom('handovers').select('database_uid').where('id', '=', id)
        const { database_uid: databaseUid } = await place.executeTakeFirstOrThrow()
        await changesStore(within).note('databases', databaseUid)
      })
    },
  }
}

function update(db: Db, id: number) {
  return db.updateTable('handovers').where('id', '=', id)
}

/** A handover without an action has no event. */
async function reportCertificate(db: Db, id: number, certificate: Certificate, at: string): Promise<void> {
  const row = await db.selectFrom('handovers').select('action_uid').where('id', '=', id).executeTakeFirst()
  if (row?.action_uid == null) return
  await actionEventsStore(db).append(row.action_uid, { type: 'handover', certificate }, at)
}

async function certificatesOf(
  db: Db,
  actionUids: readonly string[],
): Promise<ReadonlyMap<string, readonly Certificate[]>> {
  const certified = await certifiedOf(db, actionUids)
  return new Map([...certified].map(([uid, of]) => [uid, of.map(({ certificate }) => certificate)]))
}

async function certifiedOf(
  db: Db,
  actionUids: readonly string[],
): Promise<ReadonlyMap<string, readonly Certified[]>> {
  if (actionUids.length === 0) return new Map()
  const rows = await db
    .selectFrom('handovers')
    .select(['id', 'action_uid', 'certificate'])
    .where('action_uid', 'in', [...actionUids])
    .where('certificate', 'is not', null)
    .orderBy('id')
    .execute()
  const byAction = Map.groupBy(rows, (row) => row.action_uid ?? '')
  return new Map(
    [...byAction].map(([uid, of]) => [
      uid,
      of.map(({ id, certificate }) => ({ id, certificate: certificateOf(certificate ?? '', id) })),
    ]),
  )
}

function toRow(id: number, intent: Intent): Tables['handovers'] {
  return {
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
  }
}

const fullSyncsOf = jsonColumn('handovers', 'full_syncs_before', Type.Record(Type.String(), Type.Number()))
const standbyOf = jsonColumn(
  'handovers',
  'standby',
  Type.Object({ shard: Type.Integer(), runId: Type.String(), errorReplies: Type.Number() }),
)
const readCertificate = jsonColumn('handovers', 'certificate', StoredCertificate)

/** Earlier versions recorded neither keys nor the length of holds. */
function certificateOf(text: string, id: number): Certificate {
  return { keys: null, heldMs: null, ...readCertificate(text, id) }
}

function fromRow(row: Tables['handovers']): Handover {
  return {
    id: row.id,
    databaseUid: row.database_uid,
    group: row.group_number,
    actionUid: row.action_uid,
    from: row.from_shard,
    to: row.to_shard,
    fullSyncsBefore: fullSyncsOf(row.full_syncs_before, row.id),
    intendedAt: row.intended_at,
    standby: row.standby === null ? unknownStandby(row) : standbyOf(row.standby, row.id),
    released: row.released === 1,
    closed: row.closed === 1,
    certificate: row.certificate === null ? null : certificateOf(row.certificate, row.id),
  }
}

/** For rows of older versions: the empty run id matches no process. */
function unknownStandby(row: Tables['handovers']): Standby {
  return { shard: row.from_shard, runId: '', errorReplies: 0 }
}
