import type { Command } from 'commander'
import { readBytes, readSeconds, readWhole } from '../output/read-quantity.ts'
import { addDatabaseOrders } from './add-actions-commands.ts'
import { addUpgradeCommand } from './add-upgrade-command.ts'
import type { Settings } from './client-command.ts'
import { acting, addClientCommand, addWatchable, collect, needing } from './client-command.ts'

const load = () => import('../commands/databases.ts')
const WORD = 'its name, or its uid'

/** Adds `databases …`. */
export function addDatabasesCommands(program: Command, settings: Settings): void {
  const databases = program
    .command('databases')
    .aliases(['db', 'database'])
    .description('the databases of the cluster')
  addList(databases, settings)
  addReads(databases, settings)
  addCreate(databases, settings)
  addUpdate(databases, settings)
  addUpgradeCommand(databases, settings)
  addDatabaseOrders(databases, settings)
  addClientCommand(databases, 'backup', 'back up a database while it serves, and prove the backup')
    .argument('<database>', WORD)
    .option('--no-wait', 'do not wait until it is proved')
    .action(acting(settings, async () => (await import('../commands/backups.ts')).backUpDatabase))
  addClientCommand(databases, 'delete', 'delete a database with all its data')
    .argument('<database>', WORD)
    .option('--dry-run', 'show what would end, and change nothing')
    .option('--yes [name]', 'do not ask; off a terminal with the name again: --yes=orders')
    .option('--no-wait', 'do not wait for its end')
    .action(acting(settings, async () => (await import('../commands/delete-database.ts')).deleteDatabase))
}

function addList(databases: Command, settings: Settings): void {
  const list = addClientCommand(databases, 'list', 'list the databases')
    .option('--search <text>', 'databases with this in their name')
    .option('--engine-version <version>', 'databases on this version, like 8.1 or valkey-8.1')
    .option('--status <status>', 'those with this status')
    .option('--upgradable', 'databases with a newer build of their flavour')
    .option(
      '--sort <field>',
      'by uid, name, memory_size, created_time or last_changed_time; with - the largest first',
    )
    .option('--limit <n>', 'maximum number', (text) => readWhole('--limit', text))
  addWatchable(list, settings, async () => (await load()).listDatabases)
}

function addReads(databases: Command, settings: Settings): void {
  const read = (name: string, about: string) =>
    addClientCommand(databases, name, about).argument('<database>', WORD)
  read('show', 'show a database').action(acting(settings, async () => (await load()).showDatabase))
  read(
    'targets',
    'list the builds that a database can be upgraded to, and the obstacles of the others',
  ).action(acting(settings, async () => (await load()).listTargets))
  read('availability', 'ask as a client would whether a database can be used; exit code 1 if not').action(
    acting(settings, async () => (await load()).showAvailability),
  )
  read('credentials', 'show the login of clients; this is recorded in the audit')
    .option('--reveal', 'also if stdout is not a terminal')
    .action(acting(settings, async () => (await load()).showCredentials))
  read('clients', 'list the clients of the endpoint')
    .option('--limit <n>', 'maximum number', (text) => readWhole('--limit', text))
    .action(acting(settings, async () => (await load()).listClients))
}

function addCreate(databases: Command, settings: Settings): void {
  const create = addClientCommand(databases, 'create', 'create a database, and wait until it serves')
  needing(
    create.argument('<name>', 'letters, digits, - and _'),
    '--memory <size>',
    'for the data of all primaries together, like 1GiB; 0: no limit; of a backup: as it was',
    (text) => readBytes('--memory', text),
    'fromBackup',
  )
    .option('--from-backup <backup>', 'begin with its data; what is not said here is as it was then')
    .option('--engine <build>', 'like valkey-8.1 or 8.1.1; default: the newest')
    .option('--shards <n>', 'primaries, each with a part of the keys', (text) => readWhole('--shards', text))
    .option('--cluster-protocol', 'clients speak the cluster protocol to the shards')
    .option('--port <n>', 'port of its endpoint; default: chosen', (text) => readWhole('--port', text))
    .option('--tls', 'clients speak TLS, and nothing else')
    .option('--module <name[@version][=args]>', 'a module of the catalogue; may be repeated', collect, [])
    .option('--password-stdin', 'its password is the first line of stdin; default: generated')
    .option('--password-file <file>', 'its password is the first line of a file')
    .option('--set <field=json>', 'any field of POST /v1/bdbs; may be repeated', collect, [])
    .option('--no-wait', 'do not wait until it serves')
    .action(acting(settings, async () => (await import('../commands/create-database.ts')).createDatabase))
  addSettings(create)
}

/** Adds options of settings that can change later. */
function addSettings(command: Command): void {
  command
    .option('--replication', 'a replica for each primary (default of a new database)')
    .option('--no-replication', 'no replica: while a process restarts, the database is away')
    .option('--persistence <kind>', 'disabled, aof or snapshot; of a new database by default: aof')
    .option(
      '--aof-policy <policy>',
      'appendfsync-every-sec or appendfsync-always; of a new database by default: appendfsync-every-sec',
    )
    .option('--snapshot <seconds:writes>', 'when a snapshot is written; may be repeated', collect, [])
    .option('--eviction <policy>', 'eviction policy when full, like noeviction or allkeys-lru')
    .option('--default-user', 'the user default may sign in (default of a new database)')
    .option('--no-default-user', 'the user default may not sign in; its open connections stay')
    .option(
      '--grant <role=acl>',
      'users of a role sign in, under a rule, each by name or uid; may be repeated',
      collect,
      [],
    )
}

function addUpdate(databases: Command, settings: Settings): void {
  const update = addClientCommand(databases, 'update', 'change a database while it serves, without a restart')
    .argument('<database>', WORD)
    .option('--memory <size>', 'for the data of all primaries together, like 1GiB; 0: no limit', (text) =>
      readBytes('--memory', text),
    )
    .option('--name <name>', 'another name')
    .option('--port <n>', 'another port of its endpoint', (text) => readWhole('--port', text))
    .option('--tls', 'clients speak TLS')
    .option('--no-tls', 'clients speak without TLS')
    .option('--password-stdin', 'another password: the first line of stdin')
    .option('--password-file <file>', 'another password: the first line of a file')
    .option(
      '--former-valid <duration>',
      'for how long the former name, port, TLS and password stay valid (default: 24h); alone, like 0s: what was replaced before',
      (text) => readSeconds('--former-valid', text),
    )
    .option('--revoke <role>', 'users of this role sign in no more; may be repeated', collect, [])
    .option('--set <field=json>', 'any field of PUT /v1/bdbs/{uid}; may be repeated', collect, [])
    .option('--dry-run', 'show the database as it would be, and change nothing')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'do not wait for the end of its action')
    .action(acting(settings, async () => (await import('../commands/update-database.ts')).updateDatabase))
  addSettings(update)
}
