import type { User } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { askSecret, type Yes } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { type Column, printList, printOne } from '../../output/print-answer.ts'
import { showTime } from '../../output/show-quantity.ts'
import { guardChange, lookFirst } from '../guard-change.ts'
import { type PasswordOptions, readNewPassword, readSecretFile } from './read-password.ts'
import { findRole } from './roles.ts'

const columns: readonly Column<User>[] = [
  { name: 'uid', value: ({ uid }) => uid },
  { name: 'name', value: ({ name }) => name },
  { name: 'email', value: ({ email }) => email ?? '' },
  { name: 'role', value: ({ role }) => role },
  {
    name: 'status',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'active' ? undefined : 'warn'),
  },
  {
    name: 'last_login',
    value: ({ last_login: at }) => (at === undefined ? '' : new Date(at * 1_000).toISOString()),
    shown: ({ last_login: at }, terminal) => (at === undefined ? '' : showTime(at * 1_000, terminal)),
  },
  { name: 'role_uids', value: ({ role_uids }) => role_uids.join(' '), isWide: true },
  { name: 'password_issue_date', value: (row) => row.password_issue_date, isWide: true },
]
const nameOf = ({ name, email, uid }: User) => name || (email ?? String(uid))

/** Prints the users. */
export async function listUsers({ terminal, answer, link }: Context): Promise<void> {
  const rows = await (await link()).api.listUsers({ query: {} })
  printList(terminal, { rows, columns, nameOf }, answer)
}

/** The options of changes to a user. */
export interface UserOptions extends CommonOptions, PasswordOptions {
  readonly name?: string
  readonly email?: string
  readonly role: readonly string[]
  readonly disable?: boolean
  readonly enable?: boolean
  readonly yes?: Yes
}

/** Creates a user; an argument with @ is the e-mail. */
export async function createUser(context: Context, word: string, options: UserOptions): Promise<void> {
  const link = await context.link()
  const role_uids = await rolesOf(link, options)
  const password = await readNewPassword(context, options)
  await guardChange(context, link, { about: `User ${word} is created.`, yes: options.yes })
  const named = word.includes('@') && options.email === undefined ? { email: word } : { name: word }
  const body = {
    password,
    ...named,
    ...(options.email !== undefined && { email: options.email }),
    ...role_uids,
  }
  const row = await link.api.createUser({ body }).catch(lookFirst('fairlead users list'))
  printOne(context.terminal, { row, columns, nameOf }, context.answer)
}

/** Changes the given fields of a user. Other roles, and disabling, end its tokens. */
export async function updateUser(context: Context, word: string, options: UserOptions): Promise<void> {
  const link = await context.link()
  const { name, email, disable, enable, yes } = options
  if (disable === true && enable === true)
    throw new CommandFault('usage', '--disable and --enable exclude each other; nothing was sent')
  const body = {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(disable === true && { disabled: true }),
    ...(enable === true && { disabled: false }),
    ...(await rolesOf(link, options)),
  }
  if (Object.keys(body).length === 0)
    throw new CommandFault('usage', 'nothing was named that is to change; nothing was sent')
  const user = await findUser(link, word)
  const about =
    disable === true
      ? `User ${nameOf(user)} is signed out, and kept out.`
      : `User ${nameOf(user)} is changed.`
  await guardChange(context, link, { about, yes, ...(disable === true && { asked: 'yes' }) })
  const row = await link.api
    .updateUser({ params: { uid: user.uid }, body })
    .catch(lookFirst('fairlead users list'))
  printOne(context.terminal, { row, columns, nameOf }, context.answer)
}

/** Deletes a user after its name was typed. */
export async function deleteUser(
  context: Context,
  word: string,
  { yes }: { readonly yes?: Yes },
): Promise<void> {
  const link = await context.link()
  const user = await findUser(link, word)
  const name = nameOf(user)
  await guardChange(context, link, { about: `User ${name} (${user.role}) is deleted.`, asked: { name }, yes })
  await link.api.deleteUser({ params: { uid: user.uid } }).catch(lookFirst('fairlead users list'))
  printOne(context.terminal, { row: user, columns: columns.slice(0, 2), nameOf }, context.answer)
}

/** The options of `users set-password`. */
export interface SetPasswordOptions extends CommonOptions, PasswordOptions {
  readonly oldPasswordFile?: string
  readonly yes?: Yes
}

/** Replaces the passwords of a user, or of the caller, who must give the old one. Ends the user's tokens. */
export async function setPassword(
  context: Context,
  word: string | undefined,
  options: SetPasswordOptions,
): Promise<void> {
  const { terminal, answer } = context
  const link = await context.link()
  if (word === undefined && link.home !== undefined)
    throw new CommandFault(
      'usage',
      'the operator of the machine has no password: name a user; nothing was sent',
    )
  const user = word === undefined ? undefined : await findUser(link, word)
  const old_password = await oldPassword(context, user === undefined, options)
  const new_password = await readNewPassword(context, options)
  const about = `${user === undefined ? 'You are' : `User ${nameOf(user)} is`} signed out everywhere.`
  await guardChange(context, link, { about, yes: options.yes })
  const row = await link.api
    .setPassword({
      body: {
        new_password,
        ...(user !== undefined && { username: nameOf(user) }),
        ...(old_password !== undefined && { old_password }),
      },
    })
    .catch(lookFirst('fairlead login'))
  printOne(
    terminal,
    {
      row,
      nameOf: ({ username }) => username,
      columns: [
        { name: 'username', value: ({ username }) => username },
        { name: 'passwords', value: ({ passwords }) => passwords },
      ],
    },
    answer,
  )
  if (user === undefined) terminal.say('Your token has ended: fairlead login\n')
}

async function oldPassword(
  { terminal }: Context,
  isOwn: boolean,
  { oldPasswordFile }: SetPasswordOptions,
): Promise<string | undefined> {
  if (oldPasswordFile !== undefined) return readSecretFile('--old-password-file', oldPasswordFile)
  return isOwn && terminal.interactive ? await askSecret(terminal, 'Old password: ') : undefined
}

/** Finds a user by name, e-mail or uid. Throws CommandFault. */
async function findUser({ api }: Link, word: string): Promise<User> {
  const all = await api.listUsers({ query: {} })
  const found =
    all.find(({ name, email }) => name === word || email === word) ??
    all.find(({ uid }) => String(uid) === word)
  if (found !== undefined) return found
  throw new CommandFault('not_found', `there is no user ${word}`, {
    code: 'user_not_exist',
    next: 'look which there are: fairlead users list',
  })
}

async function rolesOf(link: Link, { role }: UserOptions): Promise<{ readonly role_uids?: number[] }> {
  if (role.length === 0) return {}
  const found: number[] = []
  for (const word of role) found.push((await findRole(link, word)).uid)
  return { role_uids: found }
}
