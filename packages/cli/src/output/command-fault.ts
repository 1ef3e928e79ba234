import type { Exit } from './exit-codes.ts'

/** Why a command ends without having done what was asked: what people read, and the exit code. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault'
  readonly exit: Exit
  /** For searching, and for programs: as `error_code` of the API. */
  readonly code: string | undefined
  /** What stands in the way, each by itself. */
  readonly obstacles: readonly string[]
  /** The command that leads on. */
  readonly next: string | undefined

  constructor(
    exit: Exit,
    message: string,
    more: {
      readonly code?: string
      readonly obstacles?: readonly string[]
      readonly next?: string
      readonly cause?: unknown
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.exit = exit
    this.code = more.code
    this.obstacles = more.obstacles ?? []
    this.next = more.next
  }
}
