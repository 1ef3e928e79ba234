import { createMutex } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { Actor } from '../core/identity/access.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import { isAging, whyRenew } from '../core/identity/tls-terms.ts'
import { type EndpointReach, endpointHosts } from '../core/state/endpoint-reach.ts'
import type { Store } from '../store/open-store.ts'
import type { SecretBox } from '../store/secret-box.ts'
import { type ApiCertificate, ensureApi } from './api-certificate.ts'
import { createHeldCertificates, type Held, type HeldCertificates } from './held-certificates.ts'
import { makeAuthority, makeEndpointCertificate, makeShardCertificate } from './make-certificate.ts'
import { readOperatorPair } from './read-certificate.ts'
import type { TlsName, TlsPair } from './tls-store.ts'

/** The certificates of the cluster, in PEM. Calls are serialized. */
export interface Tls {
  /** Returns valid certificates. Makes or renews them first if needed. */
  current(): Promise<TlsNow>
  /** For a database's shards; made and renewed like `current`. */
  shards(databaseUid: number): Promise<ShardCertificate>
  /**
   * For this server's API: an operator's, or one made and renewed like `current`; null: none was given, and
   * HTTPS is off.
   */
  api(): Promise<ApiCertificate | null>
  /** Calls `show` whenever `api` finds another certificate. */
  whenApiChanges(show: (certificate: ApiCertificate) => void): void
  /** Endpoints or the API show an operator's certificate. Throws Refusal invalid_certificate. */
  replace(name: ReplaceableName, pair: TlsPair, by: Actor): Promise<void>
  /** Returns to a certificate of the authority, renewed by Fairlead. Idempotent. */
  reset(name: ReplaceableName, by: Actor): Promise<void>
}

/** Certificates that an operator may supply. */
export type ReplaceableName = 'proxy' | 'api'

/** Certificate of a database's shards for each other. */
export interface ShardCertificate extends TlsPair {
  /** The database's own authority, the only trusted one. */
  readonly ca: string
}

/** The endpoints' certificate, and its authority. */
export interface TlsNow {
  /** The certificate of the authority, PEM. */
  readonly ca: string
  /** `isOurs`: signed by the authority for the endpoints' names. */
  readonly proxy: TlsPair & { readonly fingerprint: string; readonly isOurs: boolean }
}

const WARN_EVERY_MS = 24 * 60 * 60 * 1000

/**
 * The authority and the endpoints' certificate, stored with sealed keys. They are made and renewed on
 * reading, so callers always get valid ones. A renewed authority keeps its key, and so its clients' trust.
 */
export function createTls(deps: {
  readonly store: Store
  readonly box: SecretBox
  readonly now: () => number
  readonly log: Logger
  /** Hosts of this server over HTTPS; undefined: HTTPS is off. */
  readonly apiHosts?: readonly string[] | undefined
  readonly reach: () => EndpointReach
}): Tls {
  const { now, log, apiHosts, reach } = deps
  const certificates = { held: createHeldCertificates(deps), now, hosts: () => endpointHosts(reach()) }
  const { held } = certificates
  const warnOfProxy = createAgingWarning('endpoints', now, log)
  const warnOfApi = createAgingWarning('the API', now, log)
  /** Two parallel calls would make two authorities. */
  const runExclusive = createMutex()

  const ensure = async (): Promise<TlsNow> => {
    const authority = await ensureAuthority(certificates)
    const proxy = await ensureProxy(certificates, authority)
    if (proxy.origin === 'operator') warnOfProxy(proxy)
    return show(authority, proxy)
  }
  let shownPrint: string | undefined
  let showApi: (certificate: ApiCertificate) => void = () => undefined
  const ensureShownByApi = async (): Promise<ApiCertificate | null> => {
    const authority = await ensureAuthority(certificates)
    const given = await held.find('api')
    if (given !== undefined) warnOfApi(given)
    const shown = given ?? (apiHosts && (await ensureApi(certificates, authority, apiHosts)))
    if (shown === undefined) return null
    const { cert, key, fingerprint, origin } = shown
    const certificate = { ca: authority.cert, cert, key, fingerprint, isOurs: origin === 'fairlead' }
    if (fingerprint !== shownPrint) showApi(certificate)
    shownPrint = fingerprint
    return certificate
  }

  return {
    current: () => runExclusive(ensure),
    shards: (databaseUid) => runExclusive(() => ensureShards(certificates, databaseUid)),
    api: () => runExclusive(ensureShownByApi),
    whenApiChanges(show) {
      showApi = show
    },
    replace: (name, pair, by) =>
      runExclusive(async () => {
        const kept = readOperatorPair(pair, now())
        await held.keep(name, { ...kept, origin: 'operator' }, 'it was asked for', by)
      }),
    reset: (name, by) =>
      runExclusive(async () => {
        if ((await held.find(name))?.origin !== 'operator') return
        if (name === 'api') return held.drop(name, by)
        const authority = await ensureAuthority(certificates)
        await makeOurs(certificates, authority, 'it was asked for', by)
      }),
  }
}

interface Certificates {
  readonly held: HeldCertificates
  readonly now: () => number
  /** Hosts of the endpoints. */
  readonly hosts: () => readonly string[]
}

async function ensureAuthority({ held, now }: Certificates, name: TlsName = 'ca'): Promise<Held> {
  const before = await held.find(name)
  const why = before === undefined ? 'there is none yet' : whyRenew(before, [], now())
  if (before !== undefined && why === undefined) return before
  const pair = await makeAuthority(now(), before?.key)
  return held.keep(name, { ...pair, origin: 'fairlead' }, why ?? '', fairlead)
}

async function ensureProxy(certificates: Certificates, authority: TlsPair): Promise<Held> {
  const { held, now, hosts } = certificates
  const before = await held.find('proxy')
  if (before?.origin === 'operator') return before
  const why = before === undefined ? 'there is none yet' : whyRenew(before, hosts(), now())
  if (before !== undefined && why === undefined) return before
  return makeOurs(certificates, authority, why ?? '', fairlead)
}

async function makeOurs(
  { held, now, hosts }: Certificates,
  authority: TlsPair,
  why: string,
  by: Actor,
): Promise<Held> {
  const pair = await makeEndpointCertificate(authority, hosts(), now())
  return held.keep('proxy', { ...pair, origin: 'fairlead' }, why, by)
}

async function ensureShards(certificates: Certificates, uid: number): Promise<ShardCertificate> {
  const { held, now } = certificates
  const authority = await ensureAuthority(certificates, `shards-ca:${uid}`)
  const hosts = [`shards-of-${uid}.fairlead.internal`]
  const before = await held.find(`shards:${uid}`)
  const why = before === undefined ? 'there is none yet' : whyRenew(before, hosts, now())
  if (before !== undefined && why === undefined)
    return { ca: authority.cert, cert: before.cert, key: before.key }
  const pair = await makeShardCertificate(authority, hosts, now())
  const { cert, key } = await held.keep(`shards:${uid}`, { ...pair, origin: 'fairlead' }, why ?? '', fairlead)
  return { ca: authority.cert, cert, key }
}

/** Warns daily that an operator's certificate, which only operators can renew, is aging. */
function createAgingWarning(to: string, now: () => number, log: Logger): (given: Held) => void {
  let warnedMs = Number.NEGATIVE_INFINITY
  return (given) => {
    if (!isAging(given, now()) || now() - warnedMs < WARN_EVERY_MS) return
    warnedMs = now()
    const validTo = new Date(given.toMs).toISOString()
    log.warn({ validTo }, `the TLS certificate that an operator gave to ${to} is to be replaced soon`)
  }
}

function show(authority: Held, { cert, key, fingerprint, origin }: Held): TlsNow {
  return { ca: authority.cert, proxy: { cert, key, fingerprint, isOurs: origin === 'fairlead' } }
}
