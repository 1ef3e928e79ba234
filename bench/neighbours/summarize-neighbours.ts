/** How long a neighbour's requests took, in milliseconds, and how many there were. */
export interface Felt {
  readonly answers: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Row extends Felt {
  readonly what: string
  /** Where the hostile clients came in. */
  readonly at: string
  /** The longest turn of the proxy's loop, in milliseconds of processor time; null: of an engine that was asked directly. */
  readonly turn: number
  /** A client that comes at a random time meets a longer turn with a chance of one in a hundred. */
  readonly turn99: number
  /** The same load on an engine without an endpoint, beside an engine of the neighbour's own. */
  readonly bare: Felt | null
  /** The same load on the same engines, with one HAProxy of one thread before both; null: it cannot be had. */
  readonly haproxy: Felt | null
  /** Rounds of what they did, here and there: that they got to do something. */
  readonly rounds: number
  readonly bare_rounds: number
  readonly haproxy_rounds: number
  readonly met: boolean
}

/** What a neighbour may feel at p99. */
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
