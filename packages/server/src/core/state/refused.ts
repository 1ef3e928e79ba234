import type { ErrorCode } from '@fairlead/api'

/** A decision against a request: why, as a code of the one table and in words. The shell makes an answer of it. */
export interface Refused {
  readonly refused: ErrorCode
  readonly message: string
}
