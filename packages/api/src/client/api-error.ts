import type { ErrorObstacle } from '../contract/error-obstacle.ts'
import type { ErrorCode } from '../contract/errors.ts'

/** The server answered with an error. `code` is in the table of errors.ts. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode
  /** All obstacles; empty if no rule refused. */
  readonly obstacles: readonly ErrorObstacle[]
  /** The answer was JSON, but not our error: the sender is unknown. `code` is internal_error then. */
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

/** Parses an error answer. `asked` describes the request, for answers that something in between has sent. */
export function readApiError(asked: string, status: number, text: string): ApiError {
  const why = `${asked} answered ${status}: ${text.slice(0, 200)}`
  try {
    const { error_code, message, obstacles } = JSON.parse(text) as ErrorAnswer
    return typeof error_code === 'string' && typeof message === 'string'
      ? new ApiError(status, error_code, message, obstacles)
      : new ApiError(status, 'internal_error', why, [], true)
  } catch {
    // No JSON.
    return new ApiError(status, 'internal_error', why)
  }
}
