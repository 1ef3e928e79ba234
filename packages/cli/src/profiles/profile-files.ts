import { homedir } from 'node:os'
import { join } from 'node:path'
import { CommandFault } from '../output/command-fault.ts'
import { readPrivate, writePrivate } from './private-file.ts'

/** Access to a server, without secrets. */
export interface Profile {
  readonly server?: string
  /** Certificates to verify the server with, PEM; absent: those of the system. */
  readonly ca?: string
  readonly username?: string
  /** Output form. */
  readonly output?: string
  /** Each change asks for the profile's name. */
  readonly protected?: boolean
}

/** `config.json`. */
export interface Config {
  readonly current?: string
  readonly profiles?: Readonly<Record<string, Profile>>
}

/** A token, sent only to its server. Times are Unix milliseconds. */
export interface Login {
  readonly server: string
  readonly username: string
  readonly token: string
  readonly issuedMs: number
  readonly endsMs: number
}

/** The two files of a user. Each change reads and replaces them as a whole. */
export interface ProfileFiles {
  readonly folder: string
  readConfig(): Config
  changeConfig(change: (config: Config) => Config): void
  readLogin(profile: string): Login | undefined
  /** Undefined removes it. */
  keepLogin(profile: string, login: Login | undefined): void
}

/** Throws CommandFault for a file that is no JSON, and for a secret one that others may read. */
export function openProfileFiles(env: NodeJS.ProcessEnv): ProfileFiles {
  const folder = folderOf(env)
  const config = join(folder, 'config.json')
  const credentials = join(folder, 'credentials.json')
  const readLogins = () => readLoginsOf(credentials, parse(credentials, { isSecret: true }) ?? {})
  const readConfig = () => readConfigOf(config, parse(config) ?? {})
  return {
    folder,
    readConfig,
    changeConfig: (change) => writePrivate(config, print(change(readConfig()))),
    readLogin: (profile) => readLogins()[profile],
    keepLogin: (profile, login) => {
      const { [profile]: before, ...others } = readLogins()
      if (before === undefined && login === undefined) return
      writePrivate(credentials, print(login === undefined ? others : { ...others, [profile]: login }))
    },
  }
}

function folderOf({
  FAIRLEAD_CONFIG: own,
  XDG_CONFIG_HOME: xdg,
  APPDATA: appData,
}: NodeJS.ProcessEnv): string {
  if (own) return own
  if (process.platform === 'win32' && appData) return join(appData, 'fairlead')
  return join(xdg || join(homedir(), '.config'), 'fairlead')
}

const print = (value: object) => `${JSON.stringify(value, null, 2)}\n`

type Fields = Readonly<Record<string, unknown>>

/** People edit this file, so faults are named. Any value of `protected` counts. */
function readConfigOf(file: string, value: Fields): Config {
  const { current, profiles = {} } = value
  if (current !== undefined && typeof current !== 'string') throw damaged(file, 'current is not a text')
  if (!isFields(profiles)) throw damaged(file, 'profiles is not an object')
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isFields(profile)) throw damaged(file, `profiles.${name} is not an object`)
    for (const key of ['server', 'ca', 'username', 'output'])
      if (profile[key] !== undefined && typeof profile[key] !== 'string')
        throw damaged(file, `profiles.${name}.${key} is not a text`)
  }
  return { ...value, ...(value['profiles'] !== undefined && { profiles: ownOnly(profiles) }) } as Config // checked
}

function readLoginsOf(file: string, value: Fields): Readonly<Record<string, Login>> {
  for (const [name, login] of Object.entries(value)) {
    const { server, username, token, issuedMs, endsMs } = isFields(login) ? login : {}
    const texts = [server, username, token].every((one) => typeof one === 'string')
    const times = [issuedMs, endsMs].every((one) => typeof one === 'number')
    if (!texts || !times || !isToken(String(token))) throw damaged(file, `${name} is no token`)
  }
  return ownOnly(value) as Readonly<Record<string, Login>> // checked
}

/** Returns whether the text can be sent as a token in a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** Any name is a valid profile, also one of Object's properties. */
function ownOnly(value: Fields): Fields {
  return Object.assign(Object.create(null) as Fields, value)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(file: string, options?: { readonly isSecret: boolean }): Fields | undefined {
  const text = readPrivate(file, options)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isFields(value)) return value
  } catch {
    // Reported below.
  }
  throw damaged(file, 'it is not a JSON object')
}

function damaged(file: string, why: string): CommandFault {
  return new CommandFault('usage', `${file} is damaged: ${why}`, {
    next: 'mend it, or take it away and sign in again',
  })
}
