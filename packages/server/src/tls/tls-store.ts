import type { Db } from '../store/open-store.ts'
import type { SecretBox } from '../store/secret-box.ts'
import { wordColumn } from '../store/stored-column.ts'

/** A certificate and its key, PEM. */
export interface TlsPair {
  /** The leaf first, each followed by its signer's. */
  readonly cert: string
  readonly key: string
}

/**
 * Names of certificates: `ca` is the authority, `proxy` that of endpoints, `api` an operator's for the API,
 * `api:…` Fairlead's for a server's names. The others are for one database's shards, by uid.
 */
export type TlsName = 'ca' | 'proxy' | 'api' | `api:${string}` | `shards-ca:${number}` | `shards:${number}`

/** A stored certificate with its opened key. */
export interface TlsRecord extends TlsPair {
  /** An operator's certificate is renewed by the operator. */
  readonly origin: 'fairlead' | 'operator'
}

export interface TlsStore {
  /** Throws if the key cannot be opened. */
  get(name: TlsName): Promise<TlsRecord | undefined>
  put(name: TlsName, record: TlsRecord, now: string): Promise<void>
  remove(name: TlsName): Promise<void>
  /** Removes certificates of servers made before that time. */
  removeApiBefore(time: string): Promise<void>
}

const originOf = wordColumn('tls_certificates', 'origin', ['fairlead', 'operator'])

/** Private keys are sealed when written, and opened when read. */
export function tlsStore(db: Db, box: SecretBox): TlsStore {
  const purposeOf = (name: TlsName) => `tls key ${name}`
  return {
    async get(name) {
      const row = await db
        .selectFrom('tls_certificates')
        .selectAll()
        .where('name', '=', name)
        .executeTakeFirst()
      if (row === undefined) return undefined
      const origin = originOf(row.origin, name)
      return { cert: row.certificate, key: box.open(row.private_key, purposeOf(name)), origin }
    },
    async put(name, { cert, key, origin }, now) {
      const row = { certificate: cert, private_key: box.seal(key, purposeOf(name)), origin, created_at: now }
      await db
        .insertInto('tls_certificates')
        .values({ name, ...row })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
        .execute()
    },
    async remove(name) {
      await db.deleteFrom('tls_certificates').where('name', '=', name).execute()
    },
    async removeApiBefore(time) {
      await db
        .deleteFrom('tls_certificates')
        .where('name', 'like', 'api:%')
        .where('created_at', '<', time)
        .execute()
    },
  }
}
