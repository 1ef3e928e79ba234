import { Argument, type Command, Option } from 'commander'
import { readWhole } from '../output/read-quantity.ts'
import { acting, addClientCommand, addWatchable, groupOf, needing, type Settings } from './client-command.ts'

/** Adds `status` and `doctor`. */
export function addClusterCommands(program: Command, settings: Settings): void {
  const status = addClientCommand(
    program,
    'status',
    'show what needs you, what moves, which primaries died within a day, and how many databases are behind their newest build',
  )
  addWatchable(status, settings, async () => (await import('../commands/cluster/status.ts')).showStatus)
  addClientCommand(
    program,
    'doctor',
    'check this machine and the way to the server, and change nothing; exit code 1 if a check fails',
  ).action(
    acting(settings, async () => {
      const { runDoctor } = await import('../commands/cluster/doctor.ts')
      return (context) => runDoctor(context, settings.checkHere)
    }),
  )
}

/** Adds `nodes …`, `audit list`, `follow` and `seen`, and `certificates set` and `delete`. */
export function addWatchCommands(program: Command, settings: Settings): void {
  addNodes(groupOf(program, 'nodes', 'the machines with an agent'), settings)
  addRecords(program, settings)
  addCertificateChanges(groupOf(program, 'certificates', 'the TLS certificates of the cluster'), settings)
}

function addNodes(nodes: Command, settings: Settings): void {
  const load = () => import('../commands/cluster/nodes.ts')
  addClientCommand(nodes, 'list', 'list the nodes').action(
    acting(settings, async () => (await load()).listNodes),
  )
  addClientCommand(nodes, 'show', 'show a node')
    .argument('<node>', 'its uid')
    .action(acting(settings, async () => (await load()).showNode))
}

function addRecords(program: Command, settings: Settings): void {
  const audit = groupOf(program, 'audit', 'the record of what users have done')
  withChoice(addClientCommand(audit, 'list', 'list records of the audit, the newest first'))
    .option('--until <time>', 'records before this time, or age like 2h')
    .option('--action <uid>', 'those about one action')
    .option('--limit <n>', 'maximum number', (text) => readWhole('--limit', text), 50)
    .action(acting(settings, async () => (await import('../commands/cluster/audit.ts')).listAudit))
  withChoice(
    addClientCommand(
      audit,
      'follow',
      'print the last records of the audit as lines, and new ones until Ctrl-C; with -o jsonl each is an object',
    ),
  )
    .option(
      '-n, --lines <n>',
      'number of records before the new ones',
      (text) => readWhole('--lines', text),
      20,
    )
    .action(acting(settings, async () => (await import('../commands/cluster/follow-audit.ts')).followAudit))
  addClientCommand(audit, 'seen', 'say that the possible losses of a database have been seen, and print them')
    .argument('<database>', 'its name or uid')
    .action(acting(settings, async () => (await import('../commands/cluster/audit.ts')).seeLosses))
}

function withChoice(command: Command): Command {
  return command
    .option('--since <time>', 'records after this time, like 2026-11-21T12:00:00Z, or an age like 2h')
    .option('--type <type>', 'records of this type, like database_created')
    .addOption(new Option('--severity <severity>', 'those of this severity').choices(['INFO', 'WARNING']))
    .option('--user <user>', 'records of this user, by name')
    .option('--database <database>', 'records about this database, by name or uid')
}

function addCertificateChanges(certificates: Command, settings: Settings): void {
  const load = () => import('../commands/cluster/certificates.ts')
  const which = () =>
    new Argument('<name>', 'proxy: what endpoints of databases show; api: what the API shows').choices([
      ...(['proxy', 'api'] as const),
    ])
  const set = addClientCommand(certificates, 'set', 'give endpoints, or the API, a certificate of your own')
  needing(set.addArgument(which()), '--cert-file <file>', 'the certificate, then those of its signers, PEM')
  needing(set, '--key-file <file>', 'its private key, PEM, not encrypted')
    .option('--yes [profile]', 'do not ask')
    .action(acting(settings, async () => (await load()).setCertificate))
  addClientCommand(certificates, 'delete', 'go back to a certificate that the authority of the cluster signs')
    .addArgument(which())
    .option('--yes [name]', 'do not ask; with the name again: --yes=NAME')
    .action(acting(settings, async () => (await load()).deleteCertificate))
}
