/**
 * A reason why something is not done. `code` is for programs; `why` is a sentence for people that may change.
 * A function that returns obstacles returns `undefined` if there are none.
 */
export interface Obstacle<Code extends string> {
  readonly code: Code
  readonly why: string
}
