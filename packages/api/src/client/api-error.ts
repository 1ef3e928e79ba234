import type { ErrorCode } from '../contract/errors.ts'

/** The server answered with an error. `code` is one of the table in errors.ts. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode

  constructor(status: number, code: ErrorCode, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}
