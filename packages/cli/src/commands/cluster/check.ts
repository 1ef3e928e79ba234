/** How a check has ended: `none` is for what is not checked here. */
export type Result = 'ok' | 'warn' | 'bad' | 'none'

/** One check of `doctor`: what was seen, and how it is mended. */
export interface Check {
  readonly check: string
  readonly result: Result
  readonly what: string
  readonly mend: string | null
}

/** A check that has nothing to mend. */
export function fine(check: string, what: string): Check {
  return { check, result: 'ok', what, mend: null }
}
