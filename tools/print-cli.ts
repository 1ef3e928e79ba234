import type { Option } from 'commander'
import { exitCodes } from '../packages/cli/src/output/exit-codes.ts'
import { describeOption, type PrintedCommand, readCommandTree } from './read-command-tree.ts'

/** docs/reference/cli.md: every command with its arguments and options, from the tree of commands itself. */
export async function printCli(): Promise<string> {
  const { commands, common } = await readCommandTree()
  return `${[
    '<!-- Printed by `npm run docs` from packages/cli/src/tree. Do not edit. -->',
    '# The command line',
    '',
    'stdout is the answer; all else is on stderr. On a terminal a list is a table. Elsewhere each row is one line of full values between tabs, without a',
    'head; `-o json` is the object of the API, without passwords. Scripts use `-o json`, `-o name`, or `--columns name,engine_version --no-headers`. With `-o json` and',
    '`-o jsonl` an error is one line of JSON on stderr: `error_code`, `message`, `exit_code`.',
    '',
    'Which server: `--server`, then `FAIRLEAD_SERVER`, then the profile (`--profile`, `FAIRLEAD_PROFILE`, or the current one); without any of them the server of',
    'this machine, through its socket in `FAIRLEAD_HOME`, where no login is needed. `fairlead whoami -v` says where each value came from. Other variables:',
    '`FAIRLEAD_TOKEN` (sent to no other server than `FAIRLEAD_SERVER`, where that is set), `FAIRLEAD_CA_FILE`, `FAIRLEAD_OUTPUT`, `FAIRLEAD_CONFIG` (the folder of profiles; otherwise `~/.config/fairlead`), `NO_COLOR`, `FAIRLEAD_ASCII`,',
    '`FAIRLEAD_PROGRESS=lines` (no live view), `FAIRLEAD_DEBUG`. A profile is in `config.json`, without secrets; its token in `credentials.json`, which only its owner may read.',
    '',
    'The package of the command line installs this page as `man fairlead`; from the repository it is `man -l packages/cli/man/fairlead.1`.',
    '',
    '## Exit codes',
    '',
    '| code | meaning |',
    '|---|---|',
    ...Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`),
    '',
    'What the usual commands print in full, as [the tests](../../e2e/proof/command-line/examples.test.ts) compare it, is in [examples](cli-examples.md).',
    '',
    '## Options of all commands that speak to a server',
    '',
    ...printOptions(common),
    ...commands.flatMap(printCommand),
  ].join('\n')}\n`
}

function printCommand({ words, description, own, speaks }: PrintedCommand): readonly string[] {
  return [
    '',
    `## fairlead ${words}`,
    '',
    `${description}${speaks ? ' Takes the options of all commands.' : ''}`,
    ...(own.length === 0 ? [] : ['', ...printOptions(own)]),
  ]
}

function printOptions(options: readonly Option[]): readonly string[] {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  return [
    '| option | |',
    '|---|---|',
    ...options.map((option) => `| \`${cell(option.flags)}\` | ${cell(describeOption(option))} |`),
  ]
}
