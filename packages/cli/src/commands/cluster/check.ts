/** Result of a check; `none`: not applicable here. */
export type Result = 'ok' | 'warn' | 'bad' | 'none'

/** One check of `doctor`: the finding, and the way to mend it. */
export interface Check {
  readonly check: string
  readonly result: Result
  readonly what: string
  readonly mend: string | null
}

/** A check without a fault. */
export function fine(check: string, what: string): Check {
  return { check, result: 'ok', what, mend: null }
}
