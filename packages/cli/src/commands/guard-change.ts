import type { Context } from '../link/open-context.ts'
import type { Link } from '../link/open-link.ts'
import { confirm, confirmByName, type Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'

/** What a change is, for the question about it. */
export interface Change {
  /** What will be so. A sentence. */
  readonly about: string
  /** Undefined: there is no question, unless the profile is protected. */
  readonly asked?: 'yes' | { readonly name: string }
  readonly yes?: Yes
}

/** Asks before a change, with the server it is made on. A protected profile asks for its own name. Throws CommandFault where the answer is not yes. */
export async function guardChange({ terminal, target }: Context, link: Link, change: Change): Promise<void> {
  const { about, asked, yes } = change
  const question = `${about}\nOn ${link.place}.`
  if (link.isProtected) await confirmByName(terminal, question, target().profile.value, yes)
  else if (asked === 'yes') await confirm(terminal, question, yes)
  else if (asked !== undefined) await confirmByName(terminal, question, asked.name, yes)
}

/** After a change without an answer: it may have been made, and is not sent again blindly. `look` is a command. */
export function lookFirst(look: string): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof CommandFault) || cause.exit !== 'unreached') throw cause
    throw new CommandFault('unreached', `${cause.message}; the change may have been made`, {
      ...{ next: `look before you give it again: ${look}`, cause },
    })
  }
}
