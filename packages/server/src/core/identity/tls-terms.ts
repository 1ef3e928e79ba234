/** The validity and the names of a TLS certificate. Times in Unix milliseconds. */
export interface TlsTerms {
  /** The hosts that it proves; empty for the authority. */
  readonly hosts: readonly string[]
  readonly fromMs: number
  readonly toMs: number
}

/** Why the certificate must be renewed now; undefined while it is good. */
export function whyRenew(terms: TlsTerms, hosts: readonly string[], nowMs: number): string | undefined {
  const missing = hosts.filter((host) => !terms.hosts.includes(host))
  if (missing.length > 0) return `it does not prove ${missing.join(', ')}`
  if (nowMs < terms.fromMs) return 'it is not valid yet'
  if (nowMs >= terms.toMs) return 'it has expired'
  return isAging(terms, nowMs) ? 'less than a third of its life is left' : undefined
}

/** Early enough for a person who has to replace the certificate by hand. */
export function isAging({ fromMs, toMs }: Omit<TlsTerms, 'hosts'>, nowMs: number): boolean {
  return (toMs - nowMs) * 3 < toMs - fromMs
}
