import type { Role } from '@fairlead/api'
import type { Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'

/** A role by its name or its uid, or a built-in one by what it may do (db_viewer). Throws CommandFault where there is none. */
export async function findRole({ api }: Link, word: string): Promise<Role> {
  const all = await api.listRoles({ query: {} })
  const found =
    all.find(({ name }) => name === word) ??
    all.find(({ uid }) => String(uid) === word) ??
    // The built-in ones come first.
    all.find(({ management }) => management === word)
  if (found !== undefined) return found
  throw new CommandFault('not_found', `there is no role ${word}`, {
    code: 'role_not_exist',
    next: 'look what there is: fairlead roles list',
  })
}
