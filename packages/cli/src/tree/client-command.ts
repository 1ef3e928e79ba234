import { type Command, Option } from 'commander'
import type { CommonOptions, Context } from '../link/open-context.ts'
import { forms } from '../output/forms.ts'
import { readWait } from '../output/read-quantity.ts'
import type { Settings } from './settings.ts'

/** Adds a command that uses a server, with the common options. */
export function addClientCommand(parent: Command, name: string, description: string): Command {
  return withOutput(parent.command(name).description(description))
    .optionsGroup('Server:')
    .addOption(profileOption())
    .addOption(new Option('--server <url>', 'the address of the server'))
    .addOption(new Option('--ca-file <file>', 'certificates that the server is verified with, PEM'))
    .addOption(
      new Option('--timeout <time>', 'how long an answer may take, like 60s').argParser((text) =>
        readWait('--timeout', text),
      ),
    )
    .addOption(new Option('--no-input', 'ask nothing'))
    .optionsGroup('Options:')
    .addHelpText('after', HELP)
}

/** Adds a command for this user's profiles that uses no server. */
export function addLocalCommand(parent: Command, name: string, description: string): Command {
  return withOutput(parent.command(name).description(description))
    .optionsGroup('Options:')
    .addOption(profileOption())
    .addHelpText('after', HELP)
}

const HELP = '\nExit codes: fairlead help exit-codes'
const profileOption = () => new Option('--profile <name>', 'a profile of `fairlead login`')

function withOutput(command: Command): Command {
  return command
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <form>', 'the form of the answer').choices([...forms]))
    .addOption(new Option('--json', 'the same as -o json'))
    .addOption(new Option('--columns <names>', 'these columns, or fields of -o json, separated by commas'))
    .addOption(new Option('--no-headers', 'no head above a table'))
    .addOption(new Option('--show-secrets', 'leave passwords and arguments of modules in json and yaml'))
    .addOption(new Option('-q, --quiet', 'print only the answer and errors'))
    .addOption(new Option('-v, --verbose', 'print more'))
    .addOption(new Option('--color <when>', 'colours on a terminal').choices(['auto', 'never']))
}

/** Arguments of a command's `action`: its arguments, its options and itself. */
type Acted = (...args: readonly unknown[]) => Promise<void>

/** Runs a command with its arguments (in order) and options. Loads its code on demand. */
export function acting<Options extends CommonOptions>(
  { env }: Settings,
  work: (context: Context, options: Options, args: readonly (string | undefined)[]) => Promise<void>,
): Acted {
  return async (...given) => {
    // Commander: the arguments, then the options, then the command.
    const options = given.at(-2) as Options
    const args = given.slice(0, -2) as (string | undefined)[]
    const { runClient } = await import('../commands/run-client.ts')
    await runClient(env, options, (context) => work(context, options, args))
  }
}

/** The option of watchable commands. */
export interface Watching extends CommonOptions {
  readonly watch?: boolean
}

/** Adds `--watch` to a command, which then runs once or repeatedly. */
export function addWatchable<Options extends Watching>(
  command: Command,
  settings: Settings,
  work: (context: Context, options: Options) => Promise<void>,
): void {
  command
    .option(
      '--watch',
      'show it again when it changes, until Ctrl-C; off a terminal a line of JSON for each row that has changed',
    )
    .action(
      acting<Options>(settings, async (context, options) => {
        if (options.watch !== true) return work(context, options)
        const { watchAnswer } = await import('../commands/watch-answer.ts')
        await watchAnswer(context, (again) => work(again, options))
      }),
    )
}
