import { Argument, type Command } from 'commander'
import { acting, addClientCommand, addLocalCommand, type Settings } from './client-command.ts'

const load = () => import('../commands/client/configure.ts')
const profilesOf = () => import('../commands/client/profiles.ts')

/** Adds `profiles …` and `config …`, which change only files of this user, and `api` for other operations. */
export function addConfigCommands(program: Command, settings: Settings): void {
  const profiles = program.command('profiles').description('the servers that this user has signed in to')
  addLocalCommand(
    profiles,
    'list',
    'list the profiles, and `local` for the server of this machine, which needs no login',
  ).action(acting(settings, async () => (await profilesOf()).listProfiles))
  addLocalCommand(profiles, 'delete', 'delete a profile, and end its token')
    .argument('<name>', 'its name')
    .action(acting(settings, async () => (await profilesOf()).deleteProfile))
  const config = program.command('config').description('the settings of the profiles')
  const KEY = 'current, server, username, output or protected'
  addLocalCommand(config, 'list', 'list the present settings, each with its source').action(
    acting(settings, async () => (await load()).listSettings),
  )
  addLocalCommand(config, 'get', 'print one present setting')
    .argument('<key>', KEY)
    .action(acting(settings, async () => (await load()).getSetting))
  addLocalCommand(
    config,
    'set',
    'change a setting of a profile, or the current profile; an empty value removes it',
  )
    .argument('<key>', KEY)
    .argument(
      '<value>',
      'current: a profile, or local; protected: true lets each change ask for the name of the profile',
    )
    .action(acting(settings, async () => (await load()).setSetting))
  addLocalCommand(config, 'path', 'print the file of the profiles').action(
    acting(settings, async () => (await load()).showPath),
  )
  addClientCommand(
    program,
    'api',
    'send one request to the API as the user of the profile, and print the answer',
  )
    .argument('<method>', 'GET, POST, PUT or DELETE')
    .argument('<path>', 'like /v1/bdbs')
    .option('-d, --data <body>', 'JSON; @FILE: of a file; @-: of stdin')
    .option('--yes [profile]', 'of a protected profile: its name, to be not asked')
    .action(acting(settings, async () => (await import('../commands/client/call-api.ts')).callApi))
}

/** Adds `completion`, which needs no server. */
export function addCompletionCommands(program: Command): void {
  program
    .command('completion')
    .description(
      'print the script that lets a shell complete commands, options and names; its first lines show how to load it',
    )
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish', 'powershell']))
    .action(async (shell: 'bash' | 'zsh' | 'fish' | 'powershell') => {
      const { printScript } = await import('../commands/completion/shell-scripts.ts')
      process.stdout.write(printScript(shell))
    })
}
