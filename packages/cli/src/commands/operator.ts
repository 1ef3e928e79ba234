import { type Config, connectOperator, type OperatorLink, verifyAuditOf } from '@fairlead/server'
import { Argument, type Command } from 'commander'
import { printTable } from './print-table.ts'

/**
 * Adds what whoever has the machine may do without signing in: `audit verify`, `keys list`, `keys rotate`,
 * `certificates show` and `users reset-password`. They speak to the server through its socket in FAIRLEAD_HOME.
 */
export function addOperatorCommands(program: Command, config: () => Config): void {
  const home = () => config().home
  const audit = program.command('audit').description('the record of what was done by whom')
  audit
    .command('verify')
    .description('prove that no record was changed, taken out or cut off; also while no server runs')
    .option('--head <head>', 'what an earlier verification printed: that record must still be there')
    .option('--json', 'print JSON')
    .action((options: VerifyOptions) => verify(config(), options))

  const keys = program.command('keys').description('the keys that sign tokens')
  keys
    .command('list')
    .description('list them, the announced one too')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) =>
      listKeys(await connectOperator(home()).listSigningKeys({}), options),
    )
  keys
    .command('rotate')
    .description('let the announced key sign from now on; tokens live on')
    .option('--drop-all', 'make new keys and end every token: for when a key may be known to others')
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
      'print one, PEM: ca, which clients of databases are to trust, or proxy, which they are shown',
    )
    .addArgument(new Argument('[name]', 'which').choices(['ca', 'proxy']).default('ca'))
    .action(async (name: 'ca' | 'proxy') => {
      const { ca_cert: ca, proxy_cert: proxy } = await connectOperator(home()).getCertificates({})
      process.stdout.write({ ca, proxy }[name])
    })

  program
    .command('users')
    .description('the users')
    .command('reset-password')
    .description('give a user a new password, printed once; unlocks it and lets it in again')
    .argument('<name>', 'name or e-mail')
    .action(async (username: string) => {
      const { password } = await connectOperator(home()).resetPassword({ body: { username } })
      process.stdout.write(`${username} has a new password: ${password}   (it is shown only this once)\n`)
    })
}

interface JsonOption {
  readonly json?: boolean
}
interface VerifyOptions extends JsonOption {
  readonly head?: string
}

async function verify(config: Config, { head, json }: VerifyOptions): Promise<void> {
  const seen = await verifyAuditOf(config, head)
  if (json === true) process.stdout.write(`${JSON.stringify(seen, null, 2)}\n`)
  else if (seen.fault === undefined)
    process.stdout.write(
      `${seen.records} records are as they were written${describe(seen)}\nhead ${seen.head}\n`,
    )
  else process.stderr.write(`fairlead: the audit is not what was written: ${seen.fault}\n`)
  if (seen.fault !== undefined) process.exitCode = 1
}

function describe({ removed, signedAt }: Awaited<ReturnType<typeof verifyAuditOf>>): string {
  const gone = removed === 0 ? '' : `; ${removed} of them were in files that had to make room`
  return signedAt === undefined ? `${gone}; none is signed yet` : `${gone}; signed last ${signedAt}`
}

type Keys = Awaited<ReturnType<OperatorLink['listSigningKeys']>>

function listKeys({ keys }: Keys, { json }: JsonOption): void {
  const rows = keys.map(({ kid, state, created_time }) => [kid, state, created_time])
  process.stdout.write(
    json === true ? `${JSON.stringify(keys, null, 2)}\n` : printTable(['KEY', 'STATE', 'CREATED'], rows),
  )
}
