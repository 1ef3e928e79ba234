import type { CheckedLoadOptions } from './check-load-options.ts'
import type { Gap } from './gaps.ts'
import type { Address } from './layout.ts'
import type { LedgerReport } from './load-report.ts'
import type { Verdict } from './read-back.ts'

/** What the caller's process may ask the load's process, and what it gets for it. */
export interface Questions {
  /** Answers with the slots of each group. */
  readonly start: { readonly ask: CheckedLoadOptions; readonly answer: readonly string[] }
  readonly token: { readonly ask: string; readonly answer: null }
  readonly gap: { readonly ask: Gap & { readonly group?: number }; readonly answer: number }
  readonly stop: { readonly ask: null; readonly answer: LedgerReport }
  readonly readBack: { readonly ask: { readonly address?: Address }; readonly answer: Verdict }
}

export type Question = {
  readonly [Name in keyof Questions]: {
    readonly id: number
    readonly name: Name
    readonly ask: Questions[Name]['ask']
  }
}[keyof Questions]

/** What the load's process says. `acked` comes by itself, many times a second. */
export type News =
  | { readonly kind: 'acked'; readonly acked: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'trouble'; readonly id: number; readonly message: string }
