import type { Config } from '@fairlead/server'
import { type Command, Option } from 'commander'
import type { CheckHere } from '../commands/cluster/doctor.ts'
import type { CommonOptions, Context } from '../link/open-context.ts'
import { forms } from '../output/forms.ts'
import { readWait } from '../output/read-quantity.ts'

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
const profileOption = () =>
  new Option(
    '--profile <name>',
    'a profile of `fairlead login`; local: the server of this machine, without a login',
  )

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

/** Runs a command. Takes its arguments in order, then its options. */
type Run = (context: Context, ...given: never[]) => void | Promise<void>

/** Loads a command's code when it is run, and reports its failure. For commander's `action`. */
export function acting({ env }: Settings, load: () => Promise<Run>): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    // Commander: the arguments, then the options, then the command. Each function knows its own.
    const taken = given.slice(0, -1)
    const { runClient } = await import('../commands/run-client.ts')
    await runClient(env, taken.at(-1) as CommonOptions, async (context) =>
      (await load())(context, ...(taken as never[])),
    )
  }
}

/** Adds `--watch` to a command without arguments, which then runs once or repeatedly. */
export function addWatchable(command: Command, settings: Settings, load: () => Promise<Run>): void {
  const watchOrRun = async (): Promise<Run> => {
    const run = await load()
    return async (context, options: CommonOptions & { readonly watch?: boolean }) => {
      if (options.watch !== true) return await run(context, options as never)
      const { watchAnswer } = await import('../commands/watch-answer.ts')
      await watchAnswer(context, async (again) => run(again, options as never))
    }
  }
  command
    .option(
      '--watch',
      'show it again when it changes, until Ctrl-C; off a terminal a line of JSON for each row that has changed',
    )
    .action(acting(settings, watchOrRun))
}

/**
 * Adds an option that is required unless `other` is given. Unlike commander's, it is missed after unknown
 * options and missing arguments.
 */
export function needing(
  command: Command,
  flags: string,
  about: string,
  parse: (text: string) => unknown = (text) => text,
  other?: string,
): Command {
  const option = new Option(flags, `required: ${about}`).argParser(parse)
  return command.addOption(option).hook('preAction', (_, run) => {
    const hasOther = other !== undefined && run.getOptionValue(other) !== undefined
    if (run.getOptionValue(option.attributeName()) === undefined && !hasOther)
      run.error(`error: ${option.flags} is missing`)
  })
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

/** The existing group of commands with this name, or a new one. */
export function groupOf(program: Command, name: string, description: string): Command {
  const known = program.commands.find((one) => one.name() === name)
  return known ?? program.command(name).description(description)
}

/** Surroundings of commands. */
export interface Settings {
  readonly env: NodeJS.ProcessEnv
  /** Null: the client package. */
  readonly checkHere: CheckHere | null
}

/** Surroundings of commands about this machine. */
export interface MachineSettings extends Settings {
  /** Reads the configuration on demand: help needs none. Throws ConfigError. */
  readonly config: () => Promise<Config>
}
