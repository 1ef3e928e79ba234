import type { Command } from 'commander'
import type { ApiOptions } from '../commands/client/call-api.ts'
import { acting, addClientCommand, addLocalCommand } from './client-command.ts'
import type { Settings } from './settings.ts'

const load = () => import('../commands/client/configure.ts')

/** Adds `config …`, which changes only files of this user, and `api` for other operations. */
export function addConfigCommands(program: Command, settings: Settings): void {
  const config = program.command('config').description('the profiles of this user')
  const KEY = 'current, server, username, output or protected'
  addLocalCommand(config, 'list', 'list the present settings, each with its source').action(
    acting(settings, async (context) => (await load()).listSettings(context)),
  )
  addLocalCommand(config, 'get', 'print one present setting')
    .argument('<key>', KEY)
    .action(acting(settings, async (context, _, [key = '']) => (await load()).getSetting(context, key)))
  addLocalCommand(
    config,
    'set',
    'change a setting of a profile, or the current profile; an empty value removes it',
  )
    .argument('<key>', KEY)
    .argument('<value>', 'protected: true lets each change ask for the name of the profile')
    .action(
      acting(settings, async (context, _, [key = '', value = '']) =>
        (await load()).setSetting(context, key, value),
      ),
    )
  addLocalCommand(config, 'path', 'print the file of the profiles').action(
    acting(settings, async (context) => (await load()).showPath(context)),
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
    .action(
      acting<ApiOptions>(settings, async (context, options, [method = '', path = '']) =>
        (await import('../commands/client/call-api.ts')).callApi(context, method, path, options),
      ),
    )
}
