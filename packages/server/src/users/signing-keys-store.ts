import type { Db } from '../store/open-store.ts'

export interface SigningKey {
  readonly kid: string
  /** The private key as a JWK in JSON. */
  readonly privateJwk: string
}

export interface SigningKeysStore {
  list(): Promise<readonly SigningKey[]>
  insert(key: SigningKey, now: string): Promise<void>
}

export function signingKeysStore(db: Db): SigningKeysStore {
  return {
    list: () =>
      db
        .selectFrom('signing_keys')
        .select(['kid', 'private_jwk as privateJwk'])
        .orderBy('created_at')
        .execute(),
    async insert({ kid, privateJwk }, now) {
      await db.insertInto('signing_keys').values({ kid, private_jwk: privateJwk, created_at: now }).execute()
    },
  }
}
