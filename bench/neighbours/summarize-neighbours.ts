/** How long a neighbour's requests took, in milliseconds, and how many there were. */
export interface Felt {
  readonly answers: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Row extends Felt {
  readonly what: string
  /** The database to which the hostile clients connected. */
  readonly at: string
  /** The longest turn of the proxy's loop, in milliseconds of processor time; null: of an engine that was asked directly. */
  readonly turn: number
  /** A request at a random time meets a longer turn with a chance of one in a hundred. */
  readonly turn99: number
  /** The same load on an engine without an endpoint, beside an engine of the neighbour's own. */
  readonly bare: Felt | null
  /** The same load on the same engines, with one HAProxy of one thread before both; null if HAProxy could not be fetched. */
  readonly haproxy: Felt | null
  /** How many rounds the hostile clients made, with the endpoint and without: a proof that they were not idle. */
  readonly rounds: number
  readonly bare_rounds: number
  readonly haproxy_rounds: number
  readonly met: boolean
}

/** The longest permitted p99 of a neighbour. */
export const MOST_P99_MS = 20

export function feltOf(tookMs: readonly number[]): Felt {
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (part: number) =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1))
  return { answers: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}

export function isMet({ answers, p99 }: Felt): boolean {
  return answers > 0 && p99 < MOST_P99_MS
}
