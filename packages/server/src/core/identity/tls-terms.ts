/** Validity and names of a TLS certificate. Times in Unix ms. */
export interface TlsTerms {
  /** Hosts that it proves; empty for the authority. */
  readonly hosts: readonly string[]
  readonly fromMs: number
  readonly toMs: number
}

/** Returns why the certificate must be renewed now, or undefined. */
export function whyRenew(terms: TlsTerms, hosts: readonly string[], nowMs: number): string | undefined {
  const missing = hosts.filter((host) => !terms.hosts.includes(host))
  if (missing.length > 0) return `it does not prove ${missing.join(', ')}`
  if (nowMs < terms.fromMs) return 'it is not valid yet'
  if (nowMs >= terms.toMs) return 'it has expired'
  return isAging(terms, nowMs) ? 'less than a third of its life is left' : undefined
}

/** True in the last third of its life: early enough for a person to replace it by hand. */
export function isAging({ fromMs, toMs }: Omit<TlsTerms, 'hosts'>, nowMs: number): boolean {
  return (toMs - nowMs) * 3 < toMs - fromMs
}
