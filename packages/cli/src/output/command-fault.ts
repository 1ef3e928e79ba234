import type { Exit } from './exit-codes.ts'

/** The failure of a command, with a message for people and an exit code. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault'
  readonly exit: Exit
  /** For searches and programs, like `error_code` of the API. */
  readonly code: string | undefined
  /** All obstacles. */
  readonly obstacles: readonly string[]
  /** The next command. */
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
