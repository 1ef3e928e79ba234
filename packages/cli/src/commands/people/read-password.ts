import type { Context } from '../../link/open-context.ts'
import { askSecret } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { readText } from '../../output/read-quantity.ts'

/** Sources of a new password: never the command line, which other users of the machine can see. */
export interface PasswordOptions {
  readonly passwordStdin?: boolean
  readonly passwordFile?: string
}

/** Reads a password from a file or stdin; undefined: neither is given. Throws CommandFault if it is empty. */
export async function readGivenPassword({
  passwordFile,
  passwordStdin,
}: PasswordOptions): Promise<string | undefined> {
  if (passwordFile !== undefined) return readSecretFile('--password-file', passwordFile)
  if (passwordStdin !== true) return undefined
  const { text } = await import('node:stream/consumers')
  return notEmpty(firstLine(await text(process.stdin)))
}

/** The same, or asks twice. Throws CommandFault without a person to ask. */
export async function readNewPassword({ terminal }: Context, options: PasswordOptions): Promise<string> {
  const given = await readGivenPassword(options)
  if (given !== undefined) return given
  if (!terminal.interactive)
    throw new CommandFault(
      'usage',
      'no person can be asked here: give --password-stdin or --password-file FILE; nothing was sent',
    )
  const password = notEmpty(await askSecret(terminal, 'New password: '))
  const again = await askSecret(terminal, 'The same again: ')
  if (again !== password) throw new CommandFault('usage', 'the two are not the same; nothing was sent')
  return password
}

/** The first line of a file. Throws CommandFault with the option's name. */
export function readSecretFile(option: string, file: string): string {
  return notEmpty(firstLine(readText(option, file)))
}

function notEmpty(password: string): string {
  if (password !== '') return password
  throw new CommandFault('usage', 'the password is empty; nothing was sent')
}

/** The first line of stdin or of a file: a password. */
function firstLine(text: string): string {
  return text.replace(/\r?\n[\s\S]*$/, '')
}
