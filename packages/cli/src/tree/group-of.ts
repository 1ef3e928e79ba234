import type { Command } from 'commander'

/** The existing group of commands with this name, or a new one. */
export function groupOf(program: Command, name: string, description: string): Command {
  const known = program.commands.find((one) => one.name() === name)
  return known ?? program.command(name).description(description)
}
