import type { Context } from '../link/open-context.ts'
import type { Link } from '../link/open-link.ts'
import { confirm, confirmByName, type Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'

/** A change, for its confirmation. */
export interface Change {
  /** The result of the change. A sentence. */
  readonly about: string
  /** Undefined: no question, unless the profile is protected. */
  readonly asked?: 'yes' | { readonly name: string }
  readonly yes?: Yes
}

/**
 * Asks before a change, and names the server. A protected profile asks for its own name. Throws CommandFault
 * unless the answer is yes.
 */
export async function guardChange({ terminal, target }: Context, link: Link, change: Change): Promise<void> {
  const { about, asked, yes } = change
  const question = `${about}\nOn ${link.place}.`
  if (link.isProtected) await confirmByName(terminal, question, target().profile.value, yes)
  else if (asked === 'yes') await confirm(terminal, question, yes)
  else if (asked !== undefined) await confirmByName(terminal, question, asked.name, yes)
}

/** For a change without an answer, which is not repeated blindly: throws, and names the command `look`. */
export function lookFirst(look: string, may = 'the change may have been made'): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof CommandFault) || cause.exit !== 'unreached') throw cause
    throw new CommandFault('unreached', `${cause.message}; ${may}`, {
      next: `look before you give it again: ${look}`,
      cause,
    })
  }
}
