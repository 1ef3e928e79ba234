import { ApiError } from '@fairlead/api/lean'
import { readToken } from '../link/hold-token.ts'
import { lookAtCertificate, type Shown } from '../link/look-at-certificate.ts'
import type { CommonOptions, Context } from '../link/open-context.ts'
import { authorityOf, clientOf, type Link } from '../link/open-link.ts'
import { tellUnreached } from '../link/refuse-foreign.ts'
import { askLine, askSecret } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'
import { type Column, printOne } from '../output/print-answer.ts'
import { showTime } from '../output/show-quantity.ts'
import { LOCAL, type Target } from '../profiles/find-target.ts'
import type { Login } from '../profiles/profile-files.ts'
import { readGivenPassword } from './people/read-password.ts'

/** The options of `login`. */
export interface LoginOptions extends CommonOptions {
  readonly username?: string
  readonly passwordStdin?: boolean
  readonly passwordFile?: string
  readonly fingerprint?: string
  /** Seconds. */
  readonly ttl: number
}

/** Attempts to type a password, like `ssh`. */
const MOST_PASSWORDS = 3

/** Signs in, and stores a token in the profile, never the password. Asks before trusting a new authority. */
export async function logIn(context: Context, options: LoginOptions): Promise<void> {
  const { terminal, files, withinMs } = context
  const target = context.target('default')
  const { server, profile, settings } = target
  if (profile.value === LOCAL)
    throw new CommandFault('usage', `${LOCAL} is the server of this machine, which needs no login`, {
      next: 'name the profile of another: --profile NAME',
    })
  if (server === undefined) throw new CommandFault('usage', 'say which server: --server https://…')
  const url = server.value
  const ca = await trustServer(context, target, url, options.fingerprint)
  const username = options.username ?? settings.username ?? (await askFor(context, 'Username', '--username'))
  const { api: open } = clientOf({ url, ca }, { withinMs, holdToken: async () => undefined })
  const access_token = await tryPasswords(context, options, async (password) => {
    const body = { username, password, ttl: options.ttl }
    return (await open.authorizeUser({ body })).access_token
  })
  const login: Login = { server: url, username, ...readToken(access_token) }
  const { api } = clientOf({ url, ca }, { withinMs, holdToken: async () => access_token })
  const self = await api.getSelf({})
  files.changeConfig((config) => ({
    ...config,
    current: config.current ?? profile.value,
    profiles: {
      ...config.profiles,
      [profile.value]: {
        ...config.profiles?.[profile.value],
        server: url,
        username,
        ...(ca !== undefined && { ca }),
      },
    },
  }))
  files.keepLogin(profile.value, login)
  const until = showTime(login.endsMs, terminal)
  terminal.out(
    `Signed in as ${self.name} (${self.role}) on ${new URL(url).host} until ${until}. Profile "${profile.value}".\n`,
  )
  const { current } = files.readConfig()
  if (current !== profile.value)
    terminal.say(`Commands use profile ${current} unless told: --profile ${profile.value}\n`)
  if (await isHere(context))
    terminal.say(
      `Without a login, as the operator of this machine: --profile ${LOCAL}, or after fairlead logout\n`,
    )
}

async function isHere({ terminal }: Context): Promise<boolean> {
  return (await import('../link/hold-operator-token.ts')).hasLocalServer(terminal.env)
}

async function askFor({ terminal }: Context, what: string, option: string): Promise<string> {
  if (!terminal.interactive) throw new CommandFault('usage', `no person can be asked here: give ${option}`)
  return (await askLine(terminal, `${what}: `)).trim()
}

/** Runs `work` with a password, and asks again after a wrong one: a restart would also ask for trust. */
async function tryPasswords<T>(
  context: Context,
  options: LoginOptions,
  work: (password: string) => Promise<T>,
): Promise<T> {
  const isTyped = options.passwordFile === undefined && options.passwordStdin !== true
  for (let left = MOST_PASSWORDS - 1; ; left -= 1) {
    try {
      const password = await passwordOf(context, options)
      if (isTyped && password === '') throw empty
      return await work(password)
    } catch (cause) {
      if (cause === empty && left > 0) continue
      // A wrong password may have been sent already.
      if (cause instanceof CommandFault && cause.exit === 'interrupted')
        throw new CommandFault('interrupted', 'Stopped: you are not signed in.', { cause })
      const isWrong = cause instanceof ApiError && cause.code === 'invalid_credentials'
      if (!isTyped || !isWrong || left === 0) throw cause
      context.terminal.say(`${cause.message}  [${cause.code}]\n`)
    }
  }
}

const empty = new CommandFault('usage', 'the password is empty')

async function passwordOf({ terminal }: Context, options: LoginOptions): Promise<string> {
  const given = await readGivenPassword(options)
  if (given !== undefined) return given
  if (!terminal.interactive)
    throw new CommandFault(
      'usage',
      'no person can be asked here: give --password-stdin or --password-file FILE',
    )
  return await askSecret(terminal, 'Password: ')
}

/**
 * Ends the profile's token on the server, and deletes it here. On the machine of a server, the profile is not
 * current any more: commands use its socket again.
 */
export async function logOut(context: Context): Promise<void> {
  const { files, terminal } = context
  const target = context.target()
  const { value: profile } = target.profile
  if (profile === LOCAL) {
    terminal.out('No profile is current, and none is signed out.\n')
    return
  }
  const login = files.readLogin(profile)
  if (login !== undefined) await endToken(context, target, login)
  terminal.out(
    login === undefined
      ? `Profile "${profile}" was not signed in.\n`
      : `Signed out. Profile "${profile}" stays.\n`,
  )
  if (files.readConfig().current !== profile || !(await isHere(context))) return
  files.changeConfig(({ current: _, ...config }) => config)
  terminal.say(`Commands use the server of this machine from now on, without a login (profile ${LOCAL}).\n`)
}

/** Ends a profile's token on its server, and deletes it here. Throws if the server is not reached. */
export async function endToken({ files, withinMs }: Context, target: Target, login: Login): Promise<void> {
  // A token for another server is only deleted.
  if (target.server?.value === login.server && Date.now() < login.endsMs) {
    const place = { url: login.server, ca: authorityOf(target) }
    await clientOf(place, { withinMs, holdToken: async () => login.token })
      .api.logOut({})
      .catch((cause: unknown) => {
        if (!(cause instanceof ApiError && cause.status === 401)) throw cause
      })
  }
  files.keepLogin(target.profile.value, undefined)
}

/** Prints the signed-in user, the server and the end of the token; with `--verbose` also their sources. */
export async function showSelf(context: Context): Promise<void> {
  const { terminal, isVerbose, answer } = context
  const link = await context.link()
  const self =
    link.home === undefined
      ? await link.api.getSelf({})
      : { name: 'operator', role: 'admin', token_expires: null, signed_in_by: 'local socket' }
  type Self = typeof self
  const columns: readonly Column<Self>[] = [
    { name: 'user', value: ({ name }) => name },
    { name: 'role', value: ({ role }) => role },
    { name: 'server', value: () => link.url },
    {
      name: 'until',
      value: (row) => row.token_expires,
      shown: (row) => showUntil(row.token_expires, context),
    },
    { name: 'profile', value: () => context.target().profile.value },
  ]
  const found = isVerbose ? whereFound(context, link) : []
  printOne(terminal, { row: self, nameOf: ({ name }) => name, columns: [...columns, ...found] }, answer)
}

/** The source of each value. */
function whereFound({ files, target }: Context, { home, url }: Link): readonly Column<object>[] {
  const { profile, server, token, caFile, settings, login } = target()
  const ca = caFile?.from ?? (settings.ca === undefined ? 'the system' : 'profile')
  return [
    { name: 'server_from', value: () => server?.from ?? `local socket in ${home}` },
    { name: 'profile_from', value: () => profile.from },
    { name: 'token_from', value: () => token?.from ?? (login === undefined ? 'local socket' : 'profile') },
    { name: 'authority_from', value: () => (url.startsWith('https:') ? ca : 'no TLS') },
    { name: 'files', value: () => files.folder },
  ]
}

function showUntil(time: string | null, { terminal }: Context): string {
  return time === null ? '' : showTime(Date.parse(time), terminal)
}

/**
 * Returns the certificates to verify the server with; undefined: the system's, or no TLS. Trusts an unknown
 * authority if a person agrees, or its fingerprint was given; else throws CommandFault.
 */
async function trustServer(
  context: Context,
  target: Target,
  url: string,
  fingerprint: string | undefined,
): Promise<string | undefined> {
  const { withinMs } = context
  const known = authorityOf(target)
  if (!url.startsWith('https:')) return undefined
  const look = (ca: string | undefined) =>
    lookAtCertificate(url, ca, withinMs).catch((cause: unknown) => {
      throw tellUnreached(cause, url)
    })
  const shown = await look(known)
  if (shown.isTrusted) return known
  if (target.caFile !== undefined) throw untrusted(url, shown)
  if (!shown.isAuthority)
    throw untrusted(url, shown, 'it does not show its authority; give that: --ca-file FILE')
  // With this authority, name and dates must be valid, too.
  const verified = await look(shown.authority)
  if (!verified.isTrusted) throw untrusted(url, verified)
  const changed = known === undefined ? '' : ' It is NOT the authority that this profile has trusted so far.'
  const what = `Certificate signed by unknown authority "${shown.authorityName}", SHA-256 ${shown.fingerprint}.${changed}`
  if (fingerprint === undefined) await askToTrust(context, what)
  else if (!isSame(fingerprint, shown.fingerprint))
    throw new CommandFault('usage', `${what} That is not the one of --fingerprint.`)
  return shown.authority
}

async function askToTrust({ terminal }: Context, what: string): Promise<void> {
  const compare = 'ompare it with `fairlead certificates show --fingerprint` on the server'
  if (!terminal.interactive)
    throw new CommandFault('usage', what, {
      code: 'unknown_authority',
      next: `c${compare}, then: --fingerprint SHA256, or --ca-file FILE`,
    })
  const answer = await askLine(terminal, `${what} C${compare}. Trust it? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFault('failed', 'Not done: nothing was sent, and nothing is trusted.')
}

function untrusted(url: string, { why }: Shown, next?: string): CommandFault {
  return new CommandFault('usage', `the certificate of ${url} is not to be trusted: ${why}`, {
    code: why,
    ...(next !== undefined && { next }),
  })
}

function isSame(one: string, other: string): boolean {
  const bare = (text: string) =>
    text
      .replace(/^sha256:/i, '')
      .replaceAll(/[^0-9a-f]/gi, '')
      .toLowerCase()
  return bare(one) === bare(other)
}
