import { randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { Logger } from 'pino'
import { auditStore } from '../audit/audit-store.ts'
import type { Actor } from '../core/identity/access.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import { type KeyStep, planKeys, planRotation, stageOf } from '../core/identity/key-stages.ts'
import type { Db, Store } from '../store/open-store.ts'
import type { SecretBox } from '../store/secret-box.ts'
import { type SigningKey, signingKeysStore } from './signing-keys-store.ts'

/** The keys of tokens, each in one of its stages: next, active, retired. */
export interface SigningKeys extends AsyncDisposable {
  /** The key that signs now. */
  signing(): { readonly kid: string; readonly privateKey: CryptoKey }
  /** The public key of this name; undefined when there is none, or none any more. */
  verifying(kid: string): CryptoKey | undefined
  /** What the world may know: RFC 7517. */
  published(): readonly PublishedKey[]
  list(): readonly {
    readonly kid: string
    readonly stage: 'next' | 'active' | 'retired'
    readonly createdAt: string
  }[]
  /** The announced key signs from now on. `dropAll`: a new one does, and nothing the others signed is good any more. */
  rotate(by: Actor, dropAll: boolean): Promise<void>
  /** Does what is due: announces a key, changes it, drops one. Runs by itself every minute. */
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

/**
 * The Ed25519 keys that tokens are signed with, from the store, where they are sealed. Makes the first two when there is
 * none: one signs, one is announced. See core/identity/key-stages.ts for the life of a key. Throws when a key does not open.
 */
export async function createSigningKeys(deps: {
  readonly store: Store
  readonly box: SecretBox
  readonly now: () => number
  readonly rotateEveryMs: number
  readonly log: Logger
}): Promise<SigningKeys> {
  const { store, box, now, rotateEveryMs, log } = deps
  let keys: readonly LoadedKey[] = []
  let turn = Promise.resolve()

  const read = async (): Promise<readonly LoadedKey[]> => {
    const known = new Map(keys.map((key) => [key.kid, key]))
    const stored = await signingKeysStore(store.db, box).list()
    return Promise.all(stored.map(async (key) => ({ ...(known.get(key.kid) ?? (await load(key))), ...key })))
  }
  /** Plans and carries out until nothing is due. Those in use change at the end, when one signs for sure. */
  const change = async (by: Actor, asked?: { readonly dropAll: boolean }) => {
    if (asked !== undefined) await carryOut(deps, planRotation(await read(), asked.dropAll), by)
    for (let due = planKeys(await read(), now(), rotateEveryMs); due.length > 0; ) {
      await carryOut(deps, due, by)
      due = planKeys(await read(), now(), rotateEveryMs)
    }
    keys = await read()
  }
  /** Changes follow each other: two at once would plan from the same keys. */
  const inTurn = (work: () => Promise<void>) => {
    const done = turn.then(work)
    turn = done.catch(() => undefined) // who asked hears of it; the next one starts afresh
    return done
  }
  const tend = () => inTurn(() => change(fairlead))

  await signingKeysStore(store.db, box).sealAll()
  await tend()
  const timer = setInterval(() => {
    tend().catch((err: unknown) => log.error({ err }, 'the signing keys could not be looked after'))
  }, TEND_EVERY_MS)
  timer.unref()

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
    rotate: (by, dropAll) => inTurn(() => change(by, { dropAll })),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await turn
    },
  }
}

interface KeyTable {
  readonly store: Store
  readonly box: SecretBox
  readonly now: () => number
}

/** All steps in one transaction, each with its record in the audit. */
async function carryOut(table: KeyTable, steps: readonly KeyStep[], by: Actor): Promise<void> {
  const fresh = steps.some(({ kind }) => kind === 'add') ? await makeKey() : undefined
  await table.store.transaction(async (db) => {
    for (const step of steps) await apply(table, step, fresh, db, by)
  })
}

async function apply({ box, now }: KeyTable, step: KeyStep, fresh: NewKey | undefined, db: Db, by: Actor) {
  const at = new Date(now()).toISOString()
  const keys = signingKeysStore(db, box)
  const kid = step.kind === 'add' ? (fresh?.kid ?? '') : step.kid
  if (step.kind === 'add' && fresh !== undefined) await keys.insert(fresh, at)
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
    // An OKP key of jose is a CryptoKey: only symmetric ones are bytes.
    privateKey: (await importJWK({ ...publicJwk, ...(d !== undefined && { d }) }, 'EdDSA')) as CryptoKey,
    publicKey: (await importJWK(publicJwk, 'EdDSA')) as CryptoKey,
  }
}
