import type { CheckedLoadOptions } from './check-load-options.ts'
import type { Gap } from './gaps.ts'
import type { Address } from './layout.ts'
import type { LedgerReport } from './load-report.ts'
import type { Verdict } from './read-back.ts'

/** The questions of the caller's process to the load's process, and their answers. */
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

/** The messages of the load's process. `acked` comes without a question, many times a second. */
export type News =
  | { readonly kind: 'acked'; readonly acked: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'trouble'; readonly id: number; readonly message: string }
