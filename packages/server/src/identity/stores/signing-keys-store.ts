import type { KeyTimes } from '../../core/identity/key-stages.ts'
import type { Db } from '../../store/open-store.ts'
import type { SecretBox } from '../../store/secret-box.ts'

/** A stored key, opened. */
export interface SigningKey extends KeyTimes {
  /** The private key, a JWK in JSON. */
  readonly privateJwk: string
}

/** Seals private keys before it writes them, and opens them after it reads them. */
export function signingKeysStore(db: Db, box: SecretBox) {
  const update = (kid: string) => db.updateTable('signing_keys').where('kid', '=', kid)
  const seal = (jwk: string, kid: string) => box.seal(jwk, `signing key ${kid}`)
  return {
    /** Returns the oldest first. Throws if a key does not open. */
    async list(): Promise<readonly SigningKey[]> {
      const rows = await db
        .selectFrom('signing_keys')
        .selectAll()
        .orderBy('created_at')
        .orderBy('kid')
        .execute()
      return rows.map((row) => ({
        kid: row.kid,
        privateJwk: box.open(row.private_jwk, `signing key ${row.kid}`),
        createdMs: Date.parse(row.created_at),
        activeMs: row.active_at === null ? null : Date.parse(row.active_at),
        retiredMs: row.retired_at === null ? null : Date.parse(row.retired_at),
      }))
    },
    async insert({ kid, privateJwk }: Pick<SigningKey, 'kid' | 'privateJwk'>, now: string): Promise<void> {
      const row = { kid, private_jwk: seal(privateJwk, kid), created_at: now }
      await db
        .insertInto('signing_keys')
        .values({ ...row, active_at: null, retired_at: null })
        .execute()
    },
    async activate(kid: string, now: string): Promise<void> {
      await update(kid).set({ active_at: now }).execute()
    },
    async retire(kid: string, now: string): Promise<void> {
      await update(kid).set({ retired_at: now }).execute()
    },
    async remove(kid: string): Promise<void> {
      await db.deleteFrom('signing_keys').where('kid', '=', kid).execute()
    },
    /** Seals keys that an older Fairlead stored without a seal. */
    async sealAll(): Promise<void> {
      const open = await db
        .selectFrom('signing_keys')
        .select(['kid', 'private_jwk'])
        .where('private_jwk', 'like', '{%')
        .execute()
      for (const { kid, private_jwk } of open) {
        await update(kid)
          .set({ private_jwk: seal(private_jwk, kid) })
          .execute()
      }
    },
  }
}
