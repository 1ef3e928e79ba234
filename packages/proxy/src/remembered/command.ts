/** A command that changes a connection, or its moving. `args` are without the name. */
export interface Command {
  /** In capitals. */
  readonly name: string
  readonly args: readonly Buffer[]
  /** True: `args` are only a part of the sent arguments. */
  readonly cutShort: boolean
}

/** An argument in capitals; empty when the command has no such argument. `at` counts from 0. */
export function wordAt({ args }: Command, at: number): string {
  return (args[at]?.toString('latin1') ?? '').toUpperCase()
}
