import { once } from 'node:events'
import {
  type Config,
  connectOperator,
  copyEmbedded,
  type OperatorLink,
  verifyAuditOf,
} from '@fairlead/server'
import { Argument, type Command } from 'commander'
import { asServerCommand } from '../parts/server-command.ts'
import { startPart, withoutOrders } from '../parts/start-part.ts'
import { printTable } from './print-table.ts'
import { say } from './say.ts'

/**
 * Adds the commands that the operator of the machine may run without signing in: `audit verify`, `keys list`, `keys rotate`,
 * `certificates show` and `users reset-password`. They use the server's socket in FAIRLEAD_HOME.
 */
export function addOperatorCommands(program: Command, config: () => Config, env: NodeJS.ProcessEnv): void {
  const home = () => config().home
  const audit = program.command('audit').description('the record of what users have done')
  audit
    .command('verify')
    .description('prove that no record was changed, taken out or cut off; also while no server runs')
    .option('--head <head>', 'what an earlier verification printed: that record must still be there')
    .option('--json', 'print JSON')
    .action((options: VerifyOptions) => verify(config(), env, options))

  program
    .command('store')
    .description('the store of the control plane')
    .command('copy')
    .description(
      'copy the embedded store to the PostgreSQL of FAIRLEAD_STORE, while no server runs; databases serve meanwhile',
    )
    .action(() => copy(config(), env))

  const keys = program.command('keys').description('the keys that sign tokens')
  keys
    .command('list')
    .description('list them, with the announced one')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) =>
      listKeys(await connectOperator(home()).listSigningKeys({}), options),
    )
  keys
    .command('rotate')
    .description('let the announced key sign from now on; tokens stay valid')
    .option('--drop-all', 'make new keys and end every token; to be used when others may know a key')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption & { readonly dropAll?: boolean }) => {
      const body = { drop_all: options.dropAll === true }
      listKeys(await connectOperator(home()).rotateSigningKeys({ body }), options)
    })

  program
    .command('certificates')
    .description('the TLS certificates of the cluster')
    .command('show')
    .description(
      'print one, PEM: ca, which clients are to trust; proxy, which clients of databases are shown; or api, which clients of the API are shown over HTTPS',
    )
    .addArgument(new Argument('[name]', 'which').choices(['ca', 'proxy', 'api']).default('ca'))
    .action(async (name: 'ca' | 'proxy' | 'api') => {
      const now = await connectOperator(home()).getCertificates({})
      const pem = { ca: now.ca_cert, proxy: now.proxy_cert, api: now.api_cert }[name]
      if (pem === null) throw new Error('this server has no HTTPS: FAIRLEAD_HTTPS_PORT is 0')
      say(pem)
    })

  program
    .command('users')
    .description('the users')
    .command('reset-password')
    .description('give a user a new password, printed once; unlocks it and lets it in again')
    .argument('<name>', 'name or e-mail')
    .action(async (username: string) => {
      const { password } = await connectOperator(home()).resetPassword({ body: { username } })
      say(`${username} has a new password: ${password}   (it is shown only this once)\n`)
    })
}

interface JsonOption {
  readonly json?: boolean
}
interface VerifyOptions extends JsonOption {
  readonly head?: string
}

async function verify(config: Config, env: NodeJS.ProcessEnv, { head, json }: VerifyOptions): Promise<void> {
  const args = [
    'audit',
    'verify',
    ...(head === undefined ? [] : ['--head', head]),
    ...(json === true ? ['--json'] : []),
  ]
  if (await wasDoneByServerUser(config, env, args)) return
  const seen = await verifyAuditOf(config, head)
  if (json === true) say(`${JSON.stringify(seen, null, 2)}\n`)
  else if (seen.fault === undefined)
    say(`${seen.records} records are unchanged${describe(seen)}\nhead ${seen.head}\n`)
  else process.stderr.write(withoutOrders(`fairlead: the audit was changed: ${seen.fault}\n`))
  if (seen.fault !== undefined) process.exitCode = 1
}

/** If no server runs, its files are opened as the server's user, not as root. False: this process is that user. */
async function wasDoneByServerUser(
  config: Config,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<boolean> {
  const command = await asServerCommand(config, process.argv[1] ?? '', env, args)
  if (command === null) return false
  const child = startPart(command)
  await once(child, 'close')
  process.exitCode = child.exitCode ?? 1
  return true
}

async function copy(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  if (await wasDoneByServerUser(config, env, ['store', 'copy'])) return
  const { rows, aside } = await copyEmbedded(config)
  say(
    `${rows} rows are in PostgreSQL. The file is ${aside} now.\nStart Fairlead with FAIRLEAD_STORE set from now on.\n`,
  )
}

function describe({ removed, signedAt }: Awaited<ReturnType<typeof verifyAuditOf>>): string {
  const gone = removed === 0 ? '' : `; ${removed} of them were in files that were deleted to make room`
  return signedAt === undefined ? `${gone}; none is signed yet` : `${gone}; signed last ${signedAt}`
}

type Keys = Awaited<ReturnType<OperatorLink['listSigningKeys']>>

function listKeys({ keys }: Keys, { json }: JsonOption): void {
  const rows = keys.map(({ kid, state, created_time }) => [kid, state, created_time])
  say(json === true ? `${JSON.stringify(keys, null, 2)}\n` : printTable(['KEY', 'STATE', 'CREATED'], rows))
}
