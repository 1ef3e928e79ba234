import { hasLocalServer } from '../../link/hold-operator-token.ts'
import type { Context } from '../../link/open-context.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { type Column, printList } from '../../output/print-answer.ts'
import { showTime } from '../../output/show-quantity.ts'
import { findTarget, LOCAL } from '../../profiles/find-target.ts'
import { endToken } from '../sign-in.ts'

interface Row {
  readonly name: string
  readonly current: boolean
  readonly server: string | null
  readonly username: string | null
  /** End of its token; null: signed out. */
  readonly until: string | null
}

const columns: readonly Column<Row>[] = [
  { name: 'name', value: ({ name }) => name },
  {
    name: 'current',
    value: ({ current }) => current,
    shown: ({ current }, { glyphs }) => (current ? glyphs.done : ''),
  },
  { name: 'server', value: ({ server }) => server },
  { name: 'username', value: ({ username }) => username },
  {
    name: 'signed_in_until',
    value: ({ until }) => until,
    shown: ({ until }, terminal) => (until === null ? '' : showTime(Date.parse(until), terminal)),
  },
]

/** Prints the profiles of this user, and `local` if a server of this machine can be reached. */
export function listProfiles(context: Context): void {
  const { files, terminal } = context
  const { profiles = {} } = files.readConfig()
  const current = context.target().profile.value
  const own = Object.entries(profiles).map(([name, { server = null, username = null }]): Row => {
    const login = files.readLogin(name)
    const until = login === undefined ? null : new Date(login.endsMs).toISOString()
    return { name, current: name === current, server, username, until }
  })
  const local = { name: LOCAL, current: current === LOCAL, server: 'this machine', username: 'operator' }
  const rows = hasLocalServer(terminal.env) ? [{ ...local, until: null }, ...own] : own
  const empty = 'There is none yet: fairlead login --server https://…'
  printList(terminal, { rows, columns, nameOf: ({ name }) => name, empty }, context.answer)
}

/** Deletes a profile, and ends its token. A server that cannot be reached keeps the token until it ends. */
export async function deleteProfile(context: Context, name: string): Promise<void> {
  const { files, terminal } = context
  const known = files.readConfig().profiles?.[name]
  if (known === undefined)
    throw new CommandFault('not_found', `there is no profile ${name}`, {
      next: 'look what there is: fairlead profiles list',
    })
  const login = files.readLogin(name)
  if (login !== undefined) {
    const target = findTarget(files, terminal.env, { profile: name, server: login.server })
    await endToken(context, target, login).catch(() => {
      files.keepLogin(name, undefined)
      terminal.say(`Its token is deleted here, and valid until ${new Date(login.endsMs).toISOString()}.\n`)
    })
  }
  files.changeConfig(({ current, ...config }) => {
    const { [name]: _, ...profiles } = config.profiles ?? {}
    return { ...config, ...(current !== undefined && current !== name && { current }), profiles }
  })
  terminal.out(`Profile "${name}" is deleted.\n`)
}
