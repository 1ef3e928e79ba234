import { join } from 'node:path'
import type { Context } from '../../link/open-context.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { forms } from '../../output/forms.ts'
import { type Column, printList } from '../../output/print-answer.ts'
import { LOCAL, normalServer } from '../../profiles/find-target.ts'
import type { Profile } from '../../profiles/profile-files.ts'

/** A setting and the source of its value. */
interface Setting {
  readonly key: string
  readonly value: string
  readonly from: string
}

const columns: readonly Column<Setting>[] = [
  { name: 'key', value: ({ key }) => key },
  { name: 'value', value: ({ value }) => value },
  { name: 'from', value: ({ from }) => from },
]

/** Prints the effective settings, each with its source. */
export function listSettings(context: Context): void {
  const rows = settingsOf(context)
  printList(context.terminal, { rows, columns, nameOf: ({ key }) => key }, context.answer)
}

/** Prints the effective value of one setting, or nothing. */
export function getSetting(context: Context, key: string): void {
  const found = settingsOf(context).find((one) => one.key === keyOf(key))
  if (found !== undefined) context.terminal.out(`${found.value}\n`)
}

/** Prints the path of the file with the profiles. */
export function showPath({ files, terminal }: Context): void {
  terminal.out(`${join(files.folder, 'config.json')}\n`)
}

/** Sets a setting of a profile, or the current profile. An empty value removes it. */
export function setSetting({ files, target, terminal }: Context, word: string, given: string): void {
  const key = keyOf(word)
  const value = key === 'current' && given === LOCAL ? '' : given
  const name = key === 'current' ? value : target().profile.value
  const profiles = files.readConfig().profiles ?? {}
  if (!Object.hasOwn(profiles, name) && !(key === 'current' && value === ''))
    throw name === LOCAL
      ? new CommandFault('usage', `${LOCAL} is the server of this machine, and has no settings`, {
          next: 'say which profile: --profile NAME',
        })
      : new CommandFault('usage', `there is no profile ${name}`, {
          next: `make it: fairlead login --profile ${name}`,
        })
  const change = key === 'current' ? undefined : readValue(key, value)
  files.changeConfig(({ current, ...config }) => {
    if (change === undefined) return { ...config, ...(value !== '' && { current: value }) }
    const { [change.key]: _, ...others } = config.profiles?.[name] ?? {}
    // Certificates of one server do not fit another.
    if (change.key === 'server') delete others.ca
    const profile = { ...others, ...(change.value !== undefined && { [change.key]: change.value }) }
    return { ...config, ...(current && { current }), profiles: { ...config.profiles, [name]: profile } }
  })
  terminal.say(
    key === 'current'
      ? `current is ${value || `${LOCAL}: the server of this machine, without a login`}.\n`
      : `${key} ${value === '' ? 'is taken away' : `is ${value}`}, in profile ${name}.\n`,
  )
}

const keys = ['current', 'server', 'username', 'output', 'protected'] as const
type Key = (typeof keys)[number]

function keyOf(word: string): Key {
  const key = keys.find((one) => one === word)
  if (key !== undefined) return key
  throw new CommandFault('usage', `there is no setting ${word}; there are ${keys.join(', ')}`)
}

interface Change {
  readonly key: Exclude<Key, 'current'>
  readonly value: string | boolean | undefined
}

function readValue(key: Exclude<Key, 'current'>, value: string): Change {
  if (value === '') return { key, value: undefined }
  if (key === 'server') return { key, value: normalServer(value) }
  if (key === 'output' && !forms.some((form) => form === value))
    throw new CommandFault('usage', `${value} is no form of output; there are ${forms.join(', ')}`)
  if (key !== 'protected') return { key, value }
  if (value !== 'true' && value !== 'false') throw new CommandFault('usage', 'protected is true or false')
  return { key, value: value === 'true' }
}

function settingsOf({ files, target, terminal }: Context): readonly Setting[] {
  const { profile, server, token, caFile, settings, login } = target()
  const { username, output, protected: isProtected, ca }: Profile = settings
  const form = terminal.env['FAIRLEAD_OUTPUT']
  const all: readonly (Setting | undefined)[] = [
    { key: 'current', value: profile.value, from: profile.from },
    server && { key: 'server', value: server.value, from: server.from },
    username === undefined ? undefined : { key: 'username', value: username, from: 'profile' },
    form
      ? { key: 'output', value: form, from: 'environment' }
      : output === undefined
        ? undefined
        : { key: 'output', value: output, from: 'profile' },
    isProtected === undefined ? undefined : { key: 'protected', value: String(isProtected), from: 'profile' },
    caFile && { key: 'ca_file', value: caFile.value, from: caFile.from },
    ca === undefined || caFile !== undefined
      ? undefined
      : { key: 'ca_file', value: 'an authority that was trusted', from: 'profile' },
    // Only its existence, never its value.
    token !== undefined
      ? { key: 'token', value: 'a token', from: token.from }
      : login && { key: 'token', value: `until ${new Date(login.endsMs).toISOString()}`, from: 'profile' },
    {
      key: 'folder',
      value: files.folder,
      from: 'FAIRLEAD_CONFIG' in terminal.env ? 'environment' : 'default',
    },
  ]
  return all.filter((one) => one !== undefined)
}
