import type { Option } from 'commander'
import { exitCodes } from '../packages/cli/src/output/exit-codes.ts'
import { describeOption, type PrintedCommand, readCommandTree } from './read-command-tree.ts'

/** docs/reference/cli.md: every command with its arguments and options, from the tree of commands itself. */
export async function printCli(): Promise<string> {
  const { commands, common } = await readCommandTree()
  const local = commands.filter(({ speaks }) => !speaks).map(({ words }) => `\`${words}\``)
  return `${[
    '<!-- Printed by `npm run docs` from packages/cli/src/tree. Do not edit. -->',
    '# The command line',
    '',
    'stdout is the answer; everything else is on stderr. On a terminal a list is a table. Elsewhere each row is one line of full values between tabs, without a head. Scripts use `-o json` (the object of the API, without passwords), `-o name`, or `--columns name,engine_version --no-headers`. With `-o json` and `-o jsonl` an error is one line of JSON on stderr: `error_code`, `message`, `exit_code`.',
    '',
    'The server is, in this order: `--server`; `FAIRLEAD_SERVER`; the profile (`--profile`, `FAIRLEAD_PROFILE`, or the current one); the server of this machine, through its socket in `FAIRLEAD_HOME`, where no login is needed. `--profile local` is the latter, also while a profile is current; after `fairlead logout` there, none is. `fairlead whoami -v` shows the source of each value. A profile is in `config.json`, without secrets; its token in `credentials.json`, which only its owner can read.',
    '',
    'Other variables: `FAIRLEAD_TOKEN` (sent only to `FAIRLEAD_SERVER`, if that is set), `FAIRLEAD_CA_FILE`, `FAIRLEAD_OUTPUT`, `FAIRLEAD_CONFIG` (the folder of profiles; default: `~/.config/fairlead`), `NO_COLOR`, `FAIRLEAD_ASCII`, `FAIRLEAD_PROGRESS=lines` (no live view), `FAIRLEAD_DEBUG`.',
    '',
    '[The packed client](../operate/client-alone.md) is the way to get `fairlead`, with `man fairlead`. In a checkout `fairlead …` is also `npm run -s fairlead -- …`, which starts slower: for development, and for the commands of the machine of the server. [Examples](cli-examples.md) have the complete output of the usual commands; [tests](../../e2e/proof/command-line/examples.test.ts) compare it.',
    '',
    '## Exit codes',
    '',
    '| code | meaning |',
    '|---|---|',
    ...Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`),
    '',
    '## Common options',
    '',
    `All commands take these, except: ${local.join(', ')}.`,
    '',
    ...printOptions(common),
    '',
    'Commands that change something also take:',
    '',
    '- `--yes`: do not ask. A protected profile requires its name: `--yes=PROFILE`;',
    '- `--no-wait`, if they begin an action: do not wait for its end.',
    ...commands.flatMap((command, at) => printCommand(command, commands.slice(0, at))),
  ].join('\n')}\n`
}

function printCommand(
  { words, description, own }: PrintedCommand,
  before: readonly PrintedCommand[],
): readonly string[] {
  const shared = before
    .map((other) => ({
      other,
      options: own.filter((option) => other.own.some((one) => isSame(one, option))),
    }))
    .find(({ options }) => options.length >= WORTH_SHARING)
  const rest = own.filter((option) => !shared?.options.includes(option) && !isUsual(option))
  return [
    '',
    `## fairlead ${words}`,
    '',
    description,
    ...(rest.length === 0 ? [] : ['', ...printOptions(rest)]),
    ...(shared === undefined ? [] : ['', printShared(shared)]),
  ]
}

/** So many options that another command has, too, are printed as names only. */
const WORTH_SHARING = 4

/** Printed once for all commands. */
function isUsual({ flags, description }: Option): boolean {
  if (flags === '--yes [profile]') return true
  return flags === '--no-wait' && description === 'do not wait for its end'
}

function isSame(one: Option, other: Option): boolean {
  return one.flags === other.flags && describeOption(one) === describeOption(other)
}

function printShared({ other, options }: { other: PrintedCommand; options: readonly Option[] }): string {
  const names = options.map(({ flags }) => `\`${flags.split(' ')[0]?.replace(',', '')}\``)
  return `As for \`fairlead ${other.words}\`: ${names.join(', ')}.`
}

function printOptions(options: readonly Option[]): readonly string[] {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  return [
    '| option | |',
    '|---|---|',
    ...options.map((option) => `| \`${cell(option.flags)}\` | ${cell(describeOption(option))} |`),
  ]
}
