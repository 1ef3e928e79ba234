import type { Role } from '@fairlead/api'
import type { Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'

/** Finds a role by name or uid, or a built-in one by its management (db_viewer). Throws CommandFault. */
export async function findRole({ api }: Link, word: string): Promise<Role> {
  const all = await api.listRoles({ query: {} })
  const found =
    all.find(({ name }) => name === word) ??
    all.find(({ uid }) => String(uid) === word) ??
    // Built-in roles come first.
    all.find(({ management }) => management === word)
  if (found !== undefined) return found
  throw new CommandFault('not_found', `there is no role ${word}`, {
    code: 'role_not_exist',
    next: 'look what there is: fairlead roles list',
  })
}
