import type { Command } from 'commander'
import { readSeconds } from '../output/read-quantity.ts'
import type { Settings } from './client-command.ts'
import { acting, addClientCommand } from './client-command.ts'

const load = () => import('../commands/sign-in.ts')
/** Maximum life of a token. */
const MOST_SECONDS = 86_400

/** Adds `login`, `logout` and `whoami`. */
export function addLoginCommands(program: Command, settings: Settings): void {
  addClientCommand(program, 'login', 'sign in to a server, and keep a token for it in a profile')
    .option('--username <name>', 'name or e-mail')
    .option('--password-stdin', 'the password is the first line of stdin')
    .option('--password-file <file>', 'the password is the first line of a file')
    .option('--fingerprint <sha256>', 'trust a server whose authority has this fingerprint')
    .option(
      '--ttl <time>',
      'how long the token lives; it is renewed while it is used',
      (text) => Math.min(MOST_SECONDS, Math.max(1, Math.round(readSeconds('--ttl', text)))),
      8 * 3_600,
    )
    .action(acting(settings, async () => (await load()).logIn))
  addClientCommand(program, 'logout', 'end the token of a profile, and forget it').action(
    acting(settings, async () => (await load()).logOut),
  )
  addClientCommand(
    program,
    'whoami',
    'show which user is signed in, where, and until when; -v: the source of each value',
  ).action(acting(settings, async () => (await load()).showSelf))
}
