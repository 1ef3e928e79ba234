import type { Command, Option } from 'commander'
import { exitCodes } from '../packages/cli/src/output/exit-codes.ts'
import { createProgram } from '../packages/cli/src/run-program.ts'

/** docs/cli.md: every command with its arguments and options, from the tree of commands itself. */
export async function printCli(): Promise<string> {
  const program = await createProgram({
    env: {},
    config: () => Promise.reject(new Error('help needs no settings')),
  })
  const commands = leavesOf(program)
  const common = optionsOf(commands.find((command) => command.name() === 'whoami'))
  return `${[
    '<!-- Printed by `npm run docs` from packages/cli/src/tree. Do not edit. -->',
    '# The command line',
    '',
    'stdout is the answer; all else is on stderr. On a terminal a list is a table. Elsewhere each row is one line of full values between tabs, without a',
    'head; `-o json` is the object of the API, without passwords. Scripts use `-o json`, `-o name`, or `--columns name,engine_version --no-headers`.',
    '',
    'Which server: `--server`, then `FAIRLEAD_SERVER`, then the profile (`--profile`, `FAIRLEAD_PROFILE`, or the current one); without any of them the server of',
    'this machine, through its socket in `FAIRLEAD_HOME`, where no login is needed. `fairlead whoami -v` says where each value came from. Other variables:',
    '`FAIRLEAD_TOKEN` (sent to no other server than `FAIRLEAD_SERVER`, where that is set), `FAIRLEAD_CA_FILE`, `FAIRLEAD_OUTPUT`, `FAIRLEAD_CONFIG` (the folder of profiles; otherwise `~/.config/fairlead`), `NO_COLOR`, `FAIRLEAD_ASCII`,',
    '`FAIRLEAD_PROGRESS=lines` (no live view), `FAIRLEAD_DEBUG`. A profile is in `config.json`, without secrets; its token in `credentials.json`, which only its owner may read.',
    '',
    '## Exit codes',
    '',
    '| code | meaning |',
    '|---|---|',
    ...Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`),
    '',
    '## Options of all commands that speak to a server',
    '',
    ...printOptions(common),
    ...commands.flatMap((command) => printCommand(command, common)),
  ].join('\n')}\n`
}

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

function optionsOf(command: Command | undefined): readonly Option[] {
  return (command?.options ?? []).filter(({ hidden }) => !hidden)
}

function printCommand(command: Command, common: readonly Option[]): readonly string[] {
  const known = new Set(common.map(({ flags }) => flags))
  const own = optionsOf(command).filter(({ flags }) => !known.has(flags))
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
  const speaks = optionsOf(command).some(({ flags }) => flags.includes('--server'))
  return [
    '',
    `## fairlead ${[pathOf(command), ...words].join(' ')}`,
    '',
    `${sentence(command.description())}${speaks ? ' Takes the options of all commands.' : ''}`,
    ...(own.length === 0 ? [] : ['', ...printOptions(own)]),
  ]
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}

function printOptions(options: readonly Option[]): readonly string[] {
  return [
    '| option | |',
    '|---|---|',
    ...options.map(({ flags, description, argChoices }) => {
      const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`
      return `| \`${flags.replaceAll('|', '\\|')}\` | ${description.replaceAll('|', '\\|')}${choices} |`
    }),
  ]
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
