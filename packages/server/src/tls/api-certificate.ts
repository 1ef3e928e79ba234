import { createHash } from 'node:crypto'
import { fairlead } from '../core/identity/audit-record.ts'
import { whyRenew } from '../core/identity/tls-terms.ts'
import type { Held, HeldCertificates } from './held-certificates.ts'
import { makeApiCertificate } from './make-certificate.ts'
import type { TlsName, TlsPair } from './tls-store.ts'

/** The API's certificate for HTTPS, and its authority. */
export interface ApiCertificate extends TlsPair {
  /** The certificate of the authority, PEM. */
  readonly ca: string
  readonly fingerprint: string
  /** The authority has signed it. */
  readonly isOurs: boolean
}

/**
 * Returns the authority's certificate for a server with these `hosts`; makes or renews it when due. Other
 * names have separate certificates, so that servers never renew the same one in turn.
 */
export async function ensureApi(
  { held, now }: { readonly held: HeldCertificates; readonly now: () => number },
  authority: TlsPair,
  hosts: readonly string[],
): Promise<Held> {
  const name = apiName(hosts)
  const before = await held.find(name)
  const why = before === undefined ? 'there is none yet' : whyRenew(before, hosts, now())
  if (before !== undefined && why === undefined) return before
  const pair = await makeApiCertificate(authority, hosts, now())
  return held.keep(name, { ...pair, origin: 'fairlead' }, why ?? '', fairlead)
}

function apiName(hosts: readonly string[]): TlsName {
  const names = hosts.toSorted().join(',')
  return `api:${createHash('sha256').update(names).digest('hex').slice(0, 16)}`
}
