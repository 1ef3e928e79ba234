import { Argument, type Command } from 'commander'
import type { CertificateName, JsonOption, VerifyOptions } from '../commands/operator.ts'
import type { MachineSettings } from './client-command.ts'
import { groupOf } from './client-command.ts'

const load = () => import('../commands/operator.ts')
const homeOf = async ({ config }: MachineSettings) => (await config()).home

/**
 * Adds the operator's commands without sign-in: `audit verify`, `keys list`, `keys rotate`, `certificates
 * show` and `users reset-password`. They use the server's socket in FAIRLEAD_HOME.
 */
export function addOperatorCommands(program: Command, settings: MachineSettings): void {
  addAudit(program, settings)
  addStore(program, settings)
  addKeys(program, settings)
  addCertificates(program, settings)
  addUsers(program, settings)
}

function addAudit(program: Command, { config, env }: MachineSettings): void {
  const audit = groupOf(program, 'audit', 'the record of what users have done')
  audit
    .command('verify')
    .description('prove that no record was changed, removed or cut off; also while no server runs')
    .option('--head <head>', 'what an earlier verification printed: that record must still be there')
    .option('--json', 'print JSON')
    .action(async (options: VerifyOptions) => (await load()).verifyAudit(await config(), env, options))
}

function addStore(program: Command, { config, env }: MachineSettings): void {
  program
    .command('store')
    .description('the store of the control plane')
    .command('copy')
    .description(
      'copy the embedded store to the PostgreSQL of FAIRLEAD_STORE, while no server runs; databases keep serving',
    )
    .action(async () => (await load()).copyStore(await config(), env))
}

function addKeys(program: Command, settings: MachineSettings): void {
  const keys = program.command('keys').description('the keys that sign tokens')
  keys
    .command('list')
    .description('list them, with the announced one')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) => (await load()).listKeys(await homeOf(settings), options))
  keys
    .command('rotate')
    .description('sign with the announced key from now on; tokens stay valid')
    .option('--drop-all', 'make new keys and end every token; use it if others may know a key')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption & { readonly dropAll?: boolean }) =>
      (await load()).rotateKeys(await homeOf(settings), options),
    )
}

function addCertificates(program: Command, settings: MachineSettings): void {
  groupOf(program, 'certificates', 'the TLS certificates of the cluster')
    .command('show')
    .description(
      'print one, PEM: ca, which clients are to trust; proxy, which clients of databases are shown; or api, which clients of the API are shown over HTTPS',
    )
    .addArgument(new Argument('[name]', 'which').choices(['ca', 'proxy', 'api']).default('ca'))
    .option('--fingerprint', 'print its SHA-256 only, as `fairlead login` shows it')
    .action(async (name: CertificateName, options: { readonly fingerprint?: boolean }) =>
      (await load()).showCertificate(await homeOf(settings), name, options.fingerprint === true),
    )
}

function addUsers(program: Command, settings: MachineSettings): void {
  groupOf(program, 'users', 'the users')
    .command('reset-password')
    .description('give a user a new password, printed once; unlocks it and lets it in again')
    .argument('<name>', 'name or e-mail')
    .action(async (username: string) => (await load()).resetPassword(await homeOf(settings), username))
}
