/** Reasons why the server closes an unfinished stream: `reason` of its last event, `event: cut`. */
export const cutReasons = {
  slow_reader: 'You read more slowly than events come. Connect again with the last id that you have received',
  not_admitted:
    'The token or the session has ended, or you may not see this any more. Sign in, and connect again',
} as const
/** A key of the table of reasons. */
export type CutReason = keyof typeof cutReasons

/** Thrown by a stream of events to close it early with a reason for the client. */
export class StreamCut extends Error {
  override readonly name = 'StreamCut'
  readonly reason: CutReason

  constructor(reason: CutReason) {
    super(cutReasons[reason])
    this.reason = reason
  }
}
