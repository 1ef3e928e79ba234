/**
 * Why something is not done, or not yet. `code` is what programs read, `why` is a sentence for people and may change at any time.
 * A function that answers "why not" answers `undefined` when nothing is in the way.
 */
export interface Obstacle<Code extends string> {
  readonly code: Code
  readonly why: string
}
