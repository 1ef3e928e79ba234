import autocannon from 'autocannon'

const CONNECTIONS = 10

/** Results of GET requests: how many a second, and the time of the slowest hundredth. */
export interface Reads {
  readonly perSecond: number
  readonly p99Ms: number
}

/**
 * Reads one database for `seconds`, as fast as it is answered over ten connections, or `rate` times a second. Throws
 * when anything but 200 was answered.
 */
export async function readDatabase(
  target: { readonly url: string; readonly token?: string },
  { seconds, rate }: { readonly seconds: number; readonly rate?: number },
): Promise<Reads> {
  const seen = await autocannon({
    url: `${target.url}/v1/bdbs/1`,
    connections: CONNECTIONS,
    duration: seconds,
    ...(rate !== undefined && { overallRate: rate }),
    // Each side has a certificate of its own authority: only the work of both is compared.
    tlsOptions: { rejectUnauthorized: false },
    ...(target.token !== undefined && { headers: { authorization: `Bearer ${target.token}` } }),
  })
  const failed = seen.non2xx + seen.errors + seen.timeouts
  if (failed > 0) throw new Error(`${failed} of ${seen.requests.total} requests failed`)
  return { perSecond: seen.requests.average, p99Ms: seen.latency.p99 }
}
