import type { FormerAccess } from '../../core/access/former-access.ts'
import type { PortRange } from '../../core/state/port-range.ts'
import type { Db } from '../../store/open-store.ts'
import type { Tables } from '../../store/tables.ts'

/** Former access to databases. Resolved writes are durable; `db` may be a transaction. */
export function formerAccessStore(db: Db) {
  return {
    /** Map from database to its former access; databases without any are missing. */
    async of(databaseUids: readonly number[]): Promise<ReadonlyMap<number, readonly FormerAccess[]>> {
      const rows = await db
        .selectFrom('former_access')
        .selectAll()
        .where('database_uid', 'in', [...databaseUids])
        .orderBy('until')
        .execute()
      return new Map(
        [...Map.groupBy(rows, ({ database_uid }) => database_uid)].map(([uid, own]) => [
          uid,
          own.flatMap(fromRow),
        ]),
      )
    },
    async replace(databaseUid: number, former: readonly FormerAccess[]): Promise<void> {
      await db.deleteFrom('former_access').where('database_uid', '=', databaseUid).execute()
      const rows = former.map((one) => toRow(databaseUid, one))
      if (rows.length > 0) await db.insertInto('former_access').values(rows).execute()
    },
  }
}

/** Former ports in a range, bounds included. */
export function formerPortsWithin(db: Db, { from, to }: PortRange) {
  return db
    .selectFrom('former_access')
    .select('port as endpoint_port')
    .where('port', '>=', from)
    .where('port', '<=', to)
}

type Row = Tables['former_access']

function toRow(database_uid: number, former: FormerAccess): Row {
  const { kind, until } = former
  const row = { database_uid, kind, until, port: null, tls: null, name: null, digest: null }
  if (former.kind === 'name') return { ...row, name: former.name }
  if (former.kind === 'password') return { ...row, digest: former.digest }
  return { ...row, port: former.port, tls: Number(former.tls) }
}

function fromRow({ kind, port, tls, name, digest, until }: Row): readonly FormerAccess[] {
  if (kind === 'place' && port !== null) return [{ kind, port, tls: tls === 1, until }]
  if (kind === 'name' && name !== null) return [{ kind, name, until }]
  if (kind === 'password' && digest !== null) return [{ kind, digest, until }]
  return []
}
