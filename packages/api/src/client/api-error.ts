import type { ErrorObstacle } from '../contract/error-obstacle.ts'
import type { ErrorCode } from '../contract/errors.ts'

/** The server answered with an error. `code` is one of the table in errors.ts. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode
  /** What is in the way, each by itself; none where it is no refusal by a rule. */
  readonly obstacles: readonly ErrorObstacle[]
  /** The answer was JSON, and no error of ours: what has answered is not known. `code` is internal_error then. */
  readonly isForeign: boolean

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    obstacles: readonly ErrorObstacle[] = [],
    isForeign = false,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.obstacles = obstacles
    this.isForeign = isForeign
  }
}

interface ErrorAnswer {
  readonly error_code: ErrorCode
  readonly message: string
  readonly obstacles?: readonly ErrorObstacle[]
}

/** The error of an answer; `asked` is the request, for one that has no error object of ours: something between us and the server has answered. */
export function readApiError(asked: string, status: number, text: string): ApiError {
  const why = `${asked} answered ${status}: ${text.slice(0, 200)}`
  try {
    const { error_code, message, obstacles } = JSON.parse(text) as ErrorAnswer
    return typeof error_code === 'string' && typeof message === 'string'
      ? new ApiError(status, error_code, message, obstacles)
      : new ApiError(status, 'internal_error', why, [], true)
  } catch {
    // It is no JSON.
    return new ApiError(status, 'internal_error', why)
  }
}
