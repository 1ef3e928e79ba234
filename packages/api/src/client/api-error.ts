import type { ErrorObstacle } from '../contract/error-obstacle.ts'
import type { ErrorCode } from '../contract/errors.ts'

/** The server answered with an error. `code` is one of the table in errors.ts. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode
  /** What is in the way, each by itself; none where it is no refusal by a rule. */
  readonly obstacles: readonly ErrorObstacle[]

  constructor(status: number, code: ErrorCode, message: string, obstacles: readonly ErrorObstacle[] = []) {
    super(message)
    this.status = status
    this.code = code
    this.obstacles = obstacles
  }
}
