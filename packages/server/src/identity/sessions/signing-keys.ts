import { randomUUID } from 'node:crypto'
import { codeOf, createMutex } from '@fairlead/engine'
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { Logger } from 'pino'
import type { Actor } from '../../core/identity/access.ts'
import { fairlead } from '../../core/identity/audit-record.ts'
import { type KeyStep, planKeys, planRotation, stageOf } from '../../core/identity/key-stages.ts'
import type { Db, Store } from '../../store/open-store.ts'
import type { SecretBox } from '../../store/secret-box.ts'
import { auditStore } from '../stores/audit-store.ts'
import { type SigningKey, signingKeysStore } from '../stores/signing-keys-store.ts'

/** The keys that sign tokens. Each is in one stage: next, active, retired. */
export interface SigningKeys extends AsyncDisposable {
  /** The active key. */
  signing(): { readonly kid: string; readonly privateKey: CryptoKey }
  /** Returns the public key with this name; undefined if there is none. */
  verifying(kid: string): CryptoKey | undefined
  /** The public keys, as RFC 7517 defines. */
  published(): readonly PublishedKey[]
  list(): readonly {
    readonly kid: string
    readonly stage: 'next' | 'active' | 'retired'
    readonly createdAt: string
  }[]
  /** Activates the announced key; with `dropAll` a new one, and tokens of all other keys become invalid. */
  rotate(by: Actor, dropAll: boolean): Promise<void>
  /** Does due work: announces a key, activates it, drops one. A timer calls it every minute. */
  tend(): Promise<void>
}

export interface PublishedKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
  readonly use: 'sig'
  readonly alg: 'EdDSA'
}

interface LoadedKey extends SigningKey {
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly x: string
}

const TEND_EVERY_MS = 60_000
/** Changes by another server are seen here after this time. */
const SEE_OTHERS_MS = 1_000

/**
 * Reads the Ed25519 keys of tokens, which are sealed in the store; throws if one does not open. If there are
 * none, it makes two: the first signs, the second is announced. See core/identity/key-stages.ts.
 */
export async function createSigningKeys(deps: {
  readonly store: Store
  readonly box: SecretBox
  readonly now: () => number
  readonly rotateEveryMs: number
  readonly log: Logger
}): Promise<SigningKeys> {
  const { store, box, now, rotateEveryMs } = deps
  let keys: readonly LoadedKey[] = []

  const read = async (): Promise<readonly LoadedKey[]> => {
    const known = new Map(keys.map((key) => [key.kid, key]))
    const stored = await signingKeysStore(store.db, box).list()
    return Promise.all(stored.map(async (key) => ({ ...(known.get(key.kid) ?? (await load(key))), ...key })))
  }
  /** Repeats the steps until nothing is due. The keys in use change last, when it is sure which one signs. */
  const change = async (by: Actor, asked?: { readonly dropAll: boolean }) => {
    if (asked !== undefined) await carryOut(deps, (stored) => planRotation(stored, asked.dropAll), by)
    const due = (stored: readonly SigningKey[]) => planKeys(stored, now(), rotateEveryMs)
    keys = await read()
    if (asked === undefined && due(keys).length === 0) return
    while (await carryOut(deps, due, by));
    keys = await read()
  }
  /** Changes run one at a time: two parallel ones would plan with the same keys. */
  const runExclusive = createMutex()
  const tend = () => runExclusive(() => change(fairlead))

  await signingKeysStore(store.db, box).sealAll()
  await tend()
  const timer = tendRegularly(tend, deps)

  return {
    tend,
    signing() {
      const key = keys.find((one) => stageOf(one) === 'active')
      if (key === undefined) throw new Error('there is no signing key')
      return key
    },
    verifying: (kid) => keys.find((key) => key.kid === kid)?.publicKey,
    published: () =>
      keys.map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' })),
    list: () =>
      keys.map((key) => ({
        kid: key.kid,
        stage: stageOf(key),
        createdAt: new Date(key.createdMs).toISOString(),
      })),
    rotate: (by, dropAll) => runExclusive(() => change(by, { dropAll })),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await runExclusive(async () => undefined) // wait for a running change
    },
  }
}

function tendRegularly(
  tend: () => Promise<void>,
  { store, log }: { readonly store: Store; readonly log: Logger },
): NodeJS.Timeout {
  const everyMs = store.isShared ? SEE_OTHERS_MS : TEND_EVERY_MS
  return setInterval(() => {
    tend().catch((err: unknown) => {
      // An absent PostgreSQL is in the log of the leases. A stack trace per second would hide other lines.
      if (codeOf(err) !== 'STORE_AWAY') log.error({ err }, 'the signing keys could not be maintained')
    })
  }, everyMs).unref()
}

interface KeyTable {
  readonly store: Store
  readonly box: SecretBox
  readonly now: () => number
}

/** Plans and does all steps in one transaction, with audit records. Returns whether there were any steps. */
async function carryOut(
  table: KeyTable,
  plan: (keys: readonly SigningKey[]) => readonly KeyStep[],
  by: Actor,
): Promise<boolean> {
  const fresh = await makeKey()
  return table.store.transaction(async (db) => {
    const steps = plan(await signingKeysStore(db, table.box).list())
    for (const step of steps) await apply(table, step, fresh, db, by)
    return steps.length > 0
  })
}

async function apply({ box, now }: KeyTable, step: KeyStep, fresh: NewKey, db: Db, by: Actor) {
  const at = new Date(now()).toISOString()
  const keys = signingKeysStore(db, box)
  const kid = step.kind === 'add' ? fresh.kid : step.kid
  if (step.kind === 'add') await keys.insert(fresh, at)
  if (step.kind === 'activate') await keys.activate(kid, at)
  if (step.kind === 'retire') await keys.retire(kid, at)
  if (step.kind === 'drop') await keys.remove(kid)
  const details = { kid, change: step.kind, why: step.why }
  await auditStore(db).append({ type: 'signing_key_changed', by, details }, at)
}

type NewKey = Pick<SigningKey, 'kid' | 'privateJwk'>

async function makeKey(): Promise<NewKey> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  return { kid: randomUUID(), privateJwk: JSON.stringify(await exportJWK(privateKey)) }
}

async function load(key: SigningKey): Promise<LoadedKey> {
  const { d, ...publicJwk } = JSON.parse(key.privateJwk) as JWK
  return {
    ...key,
    x: publicJwk.x ?? '',
    // jose returns a CryptoKey for an OKP key, and bytes only for symmetric keys.
    privateKey: (await importJWK({ ...publicJwk, ...(d !== undefined && { d }) }, 'EdDSA')) as CryptoKey,
    publicKey: (await importJWK(publicJwk, 'EdDSA')) as CryptoKey,
  }
}
