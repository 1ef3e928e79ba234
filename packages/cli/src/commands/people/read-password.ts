import { readFileSync } from 'node:fs'
import type { Context } from '../../link/open-context.ts'
import { askSecret, firstLine } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'

/** Sources of a new password: never the command line, which other users of the machine can see. */
export interface PasswordOptions {
  readonly passwordStdin?: boolean
  readonly passwordFile?: string
}

/** Reads a new password from a file or stdin, or asks twice. Throws CommandFault without a person to ask. */
export async function readNewPassword(
  { terminal }: Context,
  { passwordFile, passwordStdin }: PasswordOptions,
): Promise<string> {
  if (passwordFile !== undefined) return readSecretFile('--password-file', passwordFile)
  if (passwordStdin === true) return await readSecretInput()
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
  try {
    return notEmpty(firstLine(readFileSync(file, 'utf8')))
  } catch (cause) {
    if (cause instanceof CommandFault) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFault('usage', `${option}: ${why}; nothing was sent`)
  }
}

/** The first line of stdin. Throws CommandFault if it is empty. */
export async function readSecretInput(): Promise<string> {
  const { text } = await import('node:stream/consumers')
  return notEmpty(firstLine(await text(process.stdin)))
}

function notEmpty(password: string): string {
  if (password !== '') return password
  throw new CommandFault('usage', 'the password is empty; nothing was sent')
}
