/** Why the server closes a stream that has not ended: the `reason` of its last event, `event: cut`. */
export const cutReasons = {
  slow_reader: 'You read more slowly than events come. Connect again with the last id that you have received',
  not_admitted:
    'The token or the session has ended, or you may not see this any more. Sign in, and connect again',
} as const
/** A key of the table of reasons. */
export type CutReason = keyof typeof cutReasons

/** Thrown by the events of a stream: it closes early, and its client is told why. */
export class StreamCut extends Error {
  override readonly name = 'StreamCut'
  readonly reason: CutReason

  constructor(reason: CutReason) {
    super(cutReasons[reason])
    this.reason = reason
  }
}
