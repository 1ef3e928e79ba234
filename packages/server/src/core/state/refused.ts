import type { ErrorCode } from '@fairlead/api'

/** The refusal of a request: the reason as a code of the error table, and as a sentence. The shell makes the answer from it. */
export interface Refused {
  readonly refused: ErrorCode
  readonly message: string
}
