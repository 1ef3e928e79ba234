import type { Command } from 'commander'

/** The group of commands of this name: that which was added before, or a new one. */
export function groupOf(program: Command, name: string, description: string): Command {
  const known = program.commands.find((one) => one.name() === name)
  return known ?? program.command(name).description(description)
}
