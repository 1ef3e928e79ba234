import { homedir } from 'node:os'
import { join } from 'node:path'
import { CommandFault } from '../output/command-fault.ts'
import { readPrivate, writePrivate } from './private-file.ts'

/** How a server is reached. There is no secret in it. */
export interface Profile {
  readonly server?: string
  /** Certificates that the server is verified with, PEM; absent: those of the system. */
  readonly ca?: string
  readonly username?: string
  /** A form of output. */
  readonly output?: string
  /** Each change asks for the name of the profile. */
  readonly protected?: boolean
}

/** `config.json`. */
export interface Config {
  readonly current?: string
  readonly profiles?: Readonly<Record<string, Profile>>
}

/** A token, and for which server it is: it is sent to no other. Times are Unix milliseconds. */
export interface Login {
  readonly server: string
  readonly username: string
  readonly token: string
  readonly issuedMs: number
  readonly endsMs: number
}

/** The two files of a user. Each change reads them anew, and replaces them as a whole. */
export interface ProfileFiles {
  readonly folder: string
  readConfig(): Config
  changeConfig(change: (config: Config) => Config): void
  readLogin(profile: string): Login | undefined
  /** Undefined takes it away. */
  keepLogin(profile: string, login: Login | undefined): void
}

/** Throws CommandFault for a file that is not JSON, and for a secret one that others may read. */
export function openProfileFiles(env: NodeJS.ProcessEnv): ProfileFiles {
  const folder = folderOf(env)
  const config = join(folder, 'config.json')
  const credentials = join(folder, 'credentials.json')
  const readLogins = () => parse<Readonly<Record<string, Login>>>(credentials, { isSecret: true }) ?? {}
  const readConfig = () => parse<Config>(config) ?? {}
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

/** The files are this program's own, and what people write in them is looked at where it is used. */
function parse<T extends object>(file: string, options?: { readonly isSecret: boolean }): T | undefined {
  const text = readPrivate(file, options)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as T
  } catch {
    // It is said below.
  }
  throw new CommandFault('usage', `${file} is not a JSON object`, {
    next: 'mend it, or take it away and sign in again',
  })
}
