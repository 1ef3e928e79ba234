import type { Logger } from 'pino'
import { auditStore } from '../audit/audit-store.ts'
import type { Actor } from '../core/identity/access.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import { isAging, type TlsTerms, whyRenew } from '../core/identity/tls-terms.ts'
import { endpointHosts } from '../core/state/endpoint-name.ts'
import type { Store } from '../store/open-store.ts'
import type { SecretBox } from '../store/secret-box.ts'
import { makeAuthority, makeEndpointCertificate, makeShardCertificate } from './make-certificate.ts'
import { readOperatorPair, readTerms } from './read-certificate.ts'
import { type TlsName, type TlsPair, type TlsRecord, tlsStore } from './tls-store.ts'

export interface Tls {
  /** What is good now. Makes what is missing and renews what is due before it answers. */
  current(): Promise<TlsNow>
  /** For the shards of a database, good now: made and renewed as `current` is. */
  shards(databaseUid: number): Promise<ShardCertificate>
  /** Endpoints show an operator's own from now on. Throws Refusal invalid_certificate; then nothing has changed. */
  replace(pair: TlsPair, by: Actor): Promise<TlsNow>
  /** Endpoints show one that the authority signed again, and Fairlead renews it. Idempotent. */
  reset(by: Actor): Promise<TlsNow>
}

/** What the shards of one database prove themselves with to each other. */
export interface ShardCertificate extends TlsPair {
  /** The certificate of the database's own authority: they trust no other. */
  readonly ca: string
}

export interface TlsNow {
  /** The certificate of the authority, PEM. */
  readonly ca: string
  /** What endpoints show. `isOurs`: the authority has signed it, for the names of endpoints. */
  readonly proxy: TlsPair & { readonly fingerprint: string; readonly isOurs: boolean }
}

type Held = TlsRecord & TlsTerms & { readonly fingerprint: string }

const WARN_EVERY_MS = 24 * 60 * 60 * 1000

/**
 * The authority of the cluster and the certificate of its endpoints, in the store, their keys sealed. Nobody has to make or renew
 * them: whoever asks gets what is good. The authority is renewed with its key, so that whoever trusts it goes on to.
 */
export function createTls(deps: {
  readonly store: Store
  readonly box: SecretBox
  readonly now: () => number
  readonly log: Logger
}): Tls {
  const { store, box, now, log } = deps
  const held = new Map<TlsName, Held>()
  let warnedMs = Number.NEGATIVE_INFINITY
  let turn: Promise<unknown> = Promise.resolve()

  const find = async (name: TlsName): Promise<Held | undefined> => {
    const known = held.get(name)
    if (known !== undefined) return known
    const record = await tlsStore(store.db, box).get(name)
    return record && hold(name, record)
  }
  const hold = (name: TlsName, record: TlsRecord): Held => {
    const made = { ...record, ...readTerms(record.cert) }
    held.set(name, made)
    return made
  }
  const keep = async (name: TlsName, record: TlsRecord, why: string, by: Actor): Promise<Held> => {
    const at = new Date(now()).toISOString()
    const { fingerprint, toMs } = readTerms(record.cert)
    const details = { name, fingerprint, valid_to: new Date(toMs).toISOString(), why }
    await store.transaction(async (db) => {
      await tlsStore(db, box).put(name, record, at)
      await auditStore(db).append({ type: 'tls_certificate_changed', by, details }, at)
    })
    return hold(name, record)
  }

  const ensureAuthority = async (name: TlsName = 'ca'): Promise<Held> => {
    const before = await find(name)
    const why = before === undefined ? 'there is none yet' : whyRenew(before, [], now())
    if (before !== undefined && why === undefined) return before
    const pair = await makeAuthority(now(), before?.key)
    return keep(name, { ...pair, origin: 'fairlead' }, why ?? '', fairlead)
  }
  const makeOurs = async (authority: TlsPair, why: string, by: Actor): Promise<Held> => {
    const pair = await makeEndpointCertificate(authority, endpointHosts, now())
    return keep('proxy', { ...pair, origin: 'fairlead' }, why, by)
  }
  const ensureProxy = async (authority: TlsPair): Promise<Held> => {
    const before = await find('proxy')
    if (before?.origin === 'operator') return before
    const why = before === undefined ? 'there is none yet' : whyRenew(before, endpointHosts, now())
    return before !== undefined && why === undefined ? before : makeOurs(authority, why ?? '', fairlead)
  }
  const ensureShards = async (uid: number): Promise<ShardCertificate> => {
    const authority = await ensureAuthority(`shards-ca:${uid}`)
    const hosts = [`shards-of-${uid}.fairlead.internal`]
    const before = await find(`shards:${uid}`)
    const why = before === undefined ? 'there is none yet' : whyRenew(before, hosts, now())
    const { cert, key } =
      before !== undefined && why === undefined
        ? before
        : await keep(
            `shards:${uid}`,
            { ...(await makeShardCertificate(authority, hosts, now())), origin: 'fairlead' },
            why ?? '',
            fairlead,
          )
    return { ca: authority.cert, cert, key }
  }
  const ensure = async (): Promise<TlsNow> => {
    const authority = await ensureAuthority()
    const proxy = await ensureProxy(authority)
    if (proxy.origin === 'operator') warnIfAging(proxy)
    return show(authority, proxy)
  }
  /** Nobody but the operator can renew theirs. */
  const warnIfAging = (proxy: Held) => {
    if (!isAging(proxy, now()) || now() - warnedMs < WARN_EVERY_MS) return
    warnedMs = now()
    const validTo = new Date(proxy.toMs).toISOString()
    log.warn({ validTo }, 'the TLS certificate that an operator gave to endpoints is to be replaced soon')
  }
  /** Two at once would make two authorities. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => undefined) // who asked hears of it; the next one starts afresh
    return done
  }

  return {
    current: () => inTurn(ensure),
    shards: (databaseUid) => inTurn(() => ensureShards(databaseUid)),
    replace: (pair, by) =>
      inTurn(async () => {
        const kept = readOperatorPair(pair, now())
        const authority = await ensureAuthority()
        return show(authority, await keep('proxy', { ...kept, origin: 'operator' }, 'it was asked for', by))
      }),
    reset: (by) =>
      inTurn(async () => {
        const authority = await ensureAuthority()
        if ((await find('proxy'))?.origin === 'operator') await makeOurs(authority, 'it was asked for', by)
        return ensure()
      }),
  }
}

function show(authority: Held, { cert, key, fingerprint, origin }: Held): TlsNow {
  return { ca: authority.cert, proxy: { cert, key, fingerprint, isOurs: origin === 'fairlead' } }
}
