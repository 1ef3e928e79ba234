import { CommandFault } from '../output/command-fault.ts'
import { type Config, isToken, type Login, type Profile, type ProfileFiles } from './profile-files.ts'

/** Options that select the server. */
export interface TargetFlags {
  readonly profile?: string | undefined
  readonly server?: string | undefined
  readonly caFile?: string | undefined
}

/** Sources of a value. */
export type From = 'flag' | 'environment' | 'profile' | 'default' | 'local socket'

interface Found<T> {
  readonly value: T
  readonly from: From
}

/** The server and user of a command, with their sources. */
export interface Target {
  readonly profile: Found<string>
  readonly settings: Profile
  /** Undefined: the server of this machine, through its socket. */
  readonly server: Found<string> | undefined
  readonly token: Found<string> | undefined
  /** From the profile, for exactly this server. */
  readonly login: Login | undefined
  /** File with certificates. */
  readonly caFile: Found<string> | undefined
}

/** The name for the server of this machine, which needs no profile and no login. */
export const LOCAL = 'local'

/** Precedence: command line, environment, profile. `otherwise`: the profile if none is named or current. */
export function findTarget(
  files: ProfileFiles,
  env: NodeJS.ProcessEnv,
  flags: TargetFlags,
  otherwise = LOCAL,
): Target {
  const config = files.readConfig()
  const profile = profileOf(config, env, flags, otherwise)
  const isLocal = profile.value === LOCAL
  const known = isLocal ? undefined : config.profiles?.[profile.value]
  const isNamed = profile.from !== 'default' && !isLocal
  if (known === undefined && isNamed && flags.server === undefined && !env['FAIRLEAD_SERVER'])
    throw new CommandFault('usage', `there is no profile ${profile.value}${listed(config)}`, {
      next: `make it: fairlead login --profile ${profile.value} --server URL`,
    })
  const server = first(flags.server, env['FAIRLEAD_SERVER'], known?.server)
  const normal = server && { ...server, value: normalServer(server.value) }
  if (isLocal && normal !== undefined) refuseBoth(profile, normal)
  const token = tokenFor(normal?.value, env)
  const login = files.readLogin(profile.value)
  const isFor = normal !== undefined && login?.server === normal.value
  // Certificates of one server do not fit another.
  const isOfProfile = known?.server !== undefined && normalServer(known.server) === normal?.value
  if (
    profile.from === 'flag' &&
    server?.from === 'environment' &&
    known?.server !== undefined &&
    !isOfProfile
  )
    throw new CommandFault(
      'usage',
      `profile ${profile.value} is for ${known.server}, and FAIRLEAD_SERVER says ${server.value}`,
      { next: 'say which: --server URL, or unset FAIRLEAD_SERVER' },
    )
  return {
    profile,
    token,
    server: normal,
    login: isFor ? login : undefined,
    settings: isOfProfile ? known : withoutAuthority(known ?? {}),
    caFile: first(flags.caFile, env['FAIRLEAD_CA_FILE'], undefined),
  }
}

/** Refuses `local` with a server, unless the command line names the server and the environment `local`. */
function refuseBoth(profile: Found<string>, server: Found<string>): void {
  const isWeaker = profile.from === 'environment' && server.from === 'flag'
  if (isWeaker || (profile.from !== 'flag' && profile.from !== 'environment')) return
  throw new CommandFault(
    'usage',
    `profile ${LOCAL} is the server of this machine, and ${server.value} is named, too`,
    { next: `say which: --profile ${LOCAL}, or --server URL; FAIRLEAD_SERVER counts as well` },
  )
}

/** The URL up to the port. Throws CommandFault for other texts, and for plain HTTP to another machine. */
export function normalServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:'
  if (url === undefined || (!isHttp && url.protocol !== 'https:') || url.host === '')
    throw new CommandFault(
      'usage',
      `${text} is no address of a server; write it like https://fairlead.example.org:8443`,
    )
  if (url.username !== '' || url.password !== '')
    throw new CommandFault(
      'usage',
      'the address of a server must not have a password in it; sign in: fairlead login',
    )
  if (isHttp && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new CommandFault(
      'usage',
      `${text} is plain HTTP, on whose way others could read the password; use https://`,
    )
  return url.origin
}

/** If the environment names a server, its token is sent only there. */
function tokenFor(server: string | undefined, env: NodeJS.ProcessEnv): Found<string> | undefined {
  const { FAIRLEAD_SERVER: own } = env
  if (own && server !== undefined && normalServer(own) !== server) return undefined
  const found = first(undefined, env['FAIRLEAD_TOKEN'], undefined)
  if (found !== undefined && !isToken(found.value))
    throw new CommandFault('usage', 'FAIRLEAD_TOKEN has spaces, line ends or other signs that no token has')
  return found
}

function withoutAuthority({ ca: _, ...settings }: Profile): Profile {
  return settings
}

function profileOf(
  config: Config,
  env: NodeJS.ProcessEnv,
  { profile }: TargetFlags,
  otherwise: string,
): Found<string> {
  const found = first(profile, env['FAIRLEAD_PROFILE'], config.current) ?? {
    value: otherwise,
    from: 'default' as const,
  }
  if (!/^[\w.-]{1,64}$/.test(found.value))
    throw new CommandFault('usage', `${found.value} is no name of a profile: letters, digits and _ . - are`)
  return found
}

function listed({ profiles = {} }: Config): string {
  return `; there ${Object.keys(profiles).length === 0 ? 'is' : 'are'} ${[LOCAL, ...Object.keys(profiles)].join(', ')}`
}

function first(
  flag: string | undefined,
  environment: string | undefined,
  profile: string | undefined,
): Found<string> | undefined {
  if (flag !== undefined && flag !== '') return { value: flag, from: 'flag' }
  if (environment) return { value: environment, from: 'environment' }
  return profile === undefined ? undefined : { value: profile, from: 'profile' }
}
