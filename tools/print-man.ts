import { readFileSync } from 'node:fs'
import type { Option } from 'commander'
import { exitCodes } from '../packages/cli/src/output/exit-codes.ts'
import { describeOption, type PrintedCommand, readCommandTree } from './read-command-tree.ts'

/** packages/cli/man/fairlead.1, from the tree of commands itself, in the macros of man(7). */
export async function printMan(): Promise<string> {
  const { commands, common } = await readCommandTree()
  const { version } = JSON.parse(
    readFileSync(new URL('../packages/cli/package.json', import.meta.url), 'utf8'),
  ) as { version: string }
  return `${[
    '.\\" Printed by `npm run docs` from packages/cli/src/tree. Do not edit.',
    `.TH FAIRLEAD 1 "" "fairlead ${version}" "Fairlead"`,
    '.SH NAME',
    plain('fairlead - runs and upgrades Valkey- and Redis-compatible databases'),
    '.SH SYNOPSIS',
    `.B fairlead`,
    plain('<command> [<argument>...] [<option>...]'),
    '.SH DESCRIPTION',
    plain(
      'The answer is on standard output, all else on standard error. On a terminal a list is a table. Elsewhere each row is one line of full values between tabs, without a head.',
    ),
    '.PP',
    plain(
      'Which server: --server, then FAIRLEAD_SERVER, then the profile (--profile, FAIRLEAD_PROFILE, or the current one); without any of them the server of this machine, through its socket in FAIRLEAD_HOME, where no login is needed.',
    ),
    '.SH COMMANDS',
    ...commands.flatMap(printCommand),
    '.SH OPTIONS OF ALL COMMANDS THAT SPEAK TO A SERVER',
    ...common.flatMap(printOption),
    '.SH EXIT STATUS',
    ...Object.values(exitCodes).flatMap(({ code, meaning }) => ['.TP', `.B ${code}`, plain(meaning)]),
    '.SH ENVIRONMENT',
    ...Object.entries(environment).flatMap(([name, meaning]) => ['.TP', `.B ${name}`, plain(meaning)]),
    '.SH FILES',
    '.TP',
    plain('~/.config/fairlead/config.json'),
    plain('Profiles, without secrets.'),
    '.TP',
    plain('~/.config/fairlead/credentials.json'),
    plain('Tokens of profiles. It is used only while no other user can read it.'),
  ].join('\n')}\n`
}

const environment: Readonly<Record<string, string>> = {
  FAIRLEAD_SERVER: 'The server, like --server.',
  FAIRLEAD_TOKEN: 'A token. It is sent to no other server than FAIRLEAD_SERVER, where that is set.',
  FAIRLEAD_PROFILE: 'The profile, like --profile.',
  FAIRLEAD_CA_FILE: 'Certificates that the server is verified with, like --ca-file.',
  FAIRLEAD_OUTPUT: 'The form of answers, like --output.',
  FAIRLEAD_CONFIG: 'The folder of profiles.',
  FAIRLEAD_HOME: 'The folder of the server on this machine.',
  FAIRLEAD_PROGRESS: 'lines: no live view.',
  FAIRLEAD_ASCII: 'Set: only ASCII is drawn.',
  FAIRLEAD_DEBUG: 'Set: errors come with their stack.',
  NO_COLOR: 'Set: no colours.',
}

function printCommand({ words, description, own, speaks }: PrintedCommand): readonly string[] {
  return [
    '.SS',
    plain(`fairlead ${words}`),
    plain(`${description}${speaks ? ' Takes the options of all commands.' : ''}`),
    ...own.flatMap(printOption),
  ]
}

function printOption(option: Option): readonly string[] {
  return ['.TP', `.B ${plain(option.flags)}`, plain(describeOption(option))]
}

/**
 * Text as it is: in roff a backslash is an escape, a hyphen is not a minus, and a line with a dot or an
 * apostrophe at its beginning is a request.
 */
function plain(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('\u2019', '\\(cq')
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped
}
