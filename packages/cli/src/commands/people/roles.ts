import type { Role } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import type { Yes } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { isForPeople } from '../../output/forms.ts'
import { type Column, printList, printOne } from '../../output/print-answer.ts'
import { nameOrUid, namesOfDatabases } from '../find-database.ts'
import { guardChange, lookFirst } from '../guard-change.ts'

const columns: readonly Column<Role>[] = [
  { name: 'uid', value: ({ uid }) => uid },
  { name: 'name', value: ({ name }) => name },
  { name: 'management', value: ({ management }) => management },
]

async function columnsFor({ answer }: Context, link: Link): Promise<readonly Column<Role>[]> {
  const names = isForPeople(answer.form) ? await namesOfDatabases(link) : new Map<number, string>()
  const namesIn = ({ resources }: Role) =>
    resources.flatMap(({ uids }) => uids.map((uid) => nameOrUid(names, uid))).join(' ')
  const shown = (role: Role) => (role.resources.length === 0 ? 'all' : namesIn(role))
  return [...columns, { name: 'databases', value: namesIn, shown }]
}

const nameOf = ({ name }: Role) => name

/** Prints the roles. */
export async function listRoles(context: Context): Promise<void> {
  const link = await context.link()
  const rows = await link.api.listRoles({ query: {} })
  printList(context.terminal, { rows, columns: await columnsFor(context, link), nameOf }, context.answer)
}

/** Prints one role. */
export async function showRole(context: Context, word: string): Promise<void> {
  const link = await context.link()
  await print(context, link, await findRole(link, word))
}

async function print(context: Context, link: Link, row: Role): Promise<void> {
  printOne(context.terminal, { row, columns: await columnsFor(context, link), nameOf }, context.answer)
}

/** The options of changes to a role. */
export interface RoleOptions extends CommonOptions {
  readonly name?: string
  readonly management?: Role['management']
  readonly database: readonly string[]
  readonly allDatabases?: boolean
  readonly yes?: Yes
}

/** Creates a role. */
export async function createRole(context: Context, name: string, options: RoleOptions): Promise<void> {
  const { management, yes } = options
  if (management === undefined) throw new CommandFault('usage', 'say what it may do: --management')
  const link = await context.link()
  const body = { name, management, ...(await resourcesOf(link, options)) }
  await guardChange(context, link, { about: `Role ${name} is created.`, yes })
  const row = await link.api.createRole({ body }).catch(lookFirst('fairlead roles list'))
  await print(context, link, row)
}

/** Changes the given fields of a role, which signs out its users. */
export async function updateRole(context: Context, word: string, options: RoleOptions): Promise<void> {
  const { name, management, yes } = options
  const link = await context.link()
  const role = await findRole(link, word)
  const body = {
    ...(name !== undefined && { name }),
    ...(management !== undefined && { management }),
    ...(await resourcesOf(link, options)),
  }
  if (Object.keys(body).length === 0)
    throw new CommandFault('usage', 'nothing was named that is to change; nothing was sent')
  const about = `Role ${role.name} is changed, and its users are signed out.`
  await guardChange(context, link, { about, asked: 'yes', yes })
  const row = await link.api
    .updateRole({ params: { uid: role.uid }, body })
    .catch(lookFirst('fairlead roles list'))
  await print(context, link, row)
}

/** Deletes an unused role after its name was typed. */
export async function deleteRole(
  context: Context,
  word: string,
  { yes }: { readonly yes?: Yes },
): Promise<void> {
  const link = await context.link()
  const role = await findRole(link, word)
  const { name } = role
  await guardChange(context, link, { about: `Role ${name} is deleted.`, asked: { name }, yes })
  await link.api.deleteRole({ params: { uid: role.uid } }).catch(lookFirst('fairlead roles list'))
  printOne(context.terminal, { row: role, columns: columns.slice(0, 2), nameOf }, context.answer)
}

type Resources = Role['resources']

async function resourcesOf(
  { api }: Link,
  { database, allDatabases }: RoleOptions,
): Promise<{ readonly resources?: Resources }> {
  if (allDatabases === true && database.length > 0)
    throw new CommandFault('usage', '--database and --all-databases exclude each other; nothing was sent')
  if (allDatabases === true) return { resources: [] }
  if (database.length === 0) return {}
  const all = await api.listDatabases({ query: { limit: 10_000, fields: 'uid,name' } })
  const uids = database.map((word) => {
    const found = all.find(({ name }) => name === word) ?? all.find(({ uid }) => String(uid) === word)
    if (found !== undefined) return String(found.uid)
    throw new CommandFault('not_found', `there is no database ${word}; nothing was sent`, {
      code: 'db_not_exist',
    })
  })
  return { resources: [{ type: 'db', uids }] }
}

/** Finds a role by name or uid, or a built-in one by its management (db_viewer). Throws CommandFault. */
export async function findRole({ api }: Link, word: string): Promise<Role> {
  return pickRole(await api.listRoles({ query: {} }), word)
}

/** The same among these roles. */
export function pickRole(all: readonly Role[], word: string): Role {
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
