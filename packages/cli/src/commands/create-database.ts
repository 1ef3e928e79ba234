import type { Body, createDatabase as createOperation, Database } from '@fairlead/api'
import type { CommonOptions, Context } from '../link/open-context.ts'
import type { Link } from '../link/open-link.ts'
import { CommandFault } from '../output/command-fault.ts'
import { printOne } from '../output/print-answer.ts'
import { addressedColumns, describeCopies } from './describe-database.ts'
import { changeGrants } from './people/grants.ts'
import { readGivenPassword } from './people/read-password.ts'
import { isOpenWithoutTls, OPEN_WITHOUT_TLS } from './reach.ts'
import { waitForEnd } from './upgrades/follow-action.ts'

type Request = Body<typeof createOperation>

/** Options of settings that can change later, too. Other fields of the API are set by `--set`. */
export interface SettingsOptions {
  readonly replication?: boolean
  readonly persistence?: string
  readonly aofPolicy?: string
  readonly snapshot: readonly string[]
  readonly eviction?: string
  /** If the user default may sign in. */
  readonly defaultUser?: boolean
  readonly grant: readonly string[]
  readonly set: readonly string[]
  /** Commander: `--no-wait` makes it false. */
  readonly wait: boolean
}

/** The options of `databases create`. */
export interface CreateOptions extends CommonOptions, SettingsOptions {
  /** Absent: as in the backup. */
  readonly memory?: number
  readonly fromBackup?: string
  readonly engine?: string
  readonly shards?: number
  readonly clusterProtocol?: boolean
  readonly port?: number
  readonly tls?: boolean
  readonly module: readonly string[]
  readonly passwordFile?: string
  readonly passwordStdin?: boolean
}

/** Creates a database, and waits until it serves. */
export async function createDatabase(context: Context, name: string, options: CreateOptions): Promise<void> {
  const { terminal, answer } = context
  const link = await context.link()
  const memory = options.memory ?? (await memoryOf(link, options.fromBackup))
  const { fields } = await changeGrants(link, [], options)
  const body = { ...(await requestOf(name, memory, options)), ...fields, ...setFields(options.set) }
  const created = await link.api.createDatabase({ body })
  const { uid, action_uid: action } = created
  if (options.wait && action !== undefined)
    await waitForEnd(context, action, `the creation of ${name} failed, and its name is taken`, {
      failedNext: `remove it: fairlead databases delete ${name}`,
    })
  const row = options.wait ? await link.api.getDatabase({ params: { uid } }) : created
  printOne(terminal, { row, columns: addressedColumns, nameOf: (database) => database.name }, answer)
  if (isOpenWithoutTls(row)) terminal.say(`! Without TLS, ${OPEN_WITHOUT_TLS}.\n`)
  if (terminal.outIsTerminal && answer.form === 'table')
    terminal.say(`${describeCopies(row)}\n${describeConnect(row)}`)
}

/** Commands with which a person connects. The password is in no command line, which others may read. */
function describeConnect({ name, engine, tls_mode, oss_cluster, endpoints }: Database): string {
  const [at] = endpoints
  if (at === undefined) return `How clients sign in: fairlead databases credentials ${name}\n`
  const isTls = tls_mode === 'enabled'
  const program = engine === 'valkey' ? 'valkey-cli' : 'redis-cli'
  const flags = `${oss_cluster ? ' -c' : ''}${isTls ? ' --tls --cacert ca.pem' : ''}`
  const password = `$(fairlead databases credentials ${name} --reveal --columns password)`
  return [
    'Connect:\n',
    ...(isTls ? ['  fairlead certificates show ca > ca.pem   (on the machine of the server)\n'] : []),
    `  REDISCLI_AUTH=${password} ${program} -h ${at.dns_name} -p ${at.port}${flags}\n`,
    `For programs: fairlead databases credentials ${name}\n`,
  ].join('')
}

/** Returns the memory of the database of a backup. */
async function memoryOf({ api }: Link, name = ''): Promise<number> {
  return (await api.getBackup({ params: { name } })).memory_size
}

/** Returns the request. Throws CommandFault for a wrong form; the server validates values. */
async function requestOf(name: string, memory: number, options: CreateOptions): Promise<Request> {
  const { engine, shards, clusterProtocol, port } = options
  const password = await readGivenPassword(options)
  return {
    name,
    memory_size: memory,
    ...(options.fromBackup !== undefined && { from_backup: options.fromBackup }),
    ...(engine !== undefined && { engine_version: engine }),
    ...settingsIn(options),
    ...(shards !== undefined && { shards_count: shards, ...(shards > 1 && { sharding: true }) }),
    ...(clusterProtocol === true && { sharding: true, oss_cluster: true }),
    ...(port !== undefined && { port }),
    ...(options.tls === true && { tls_mode: 'enabled' }),
    ...(options.module.length > 0 && { module_list: options.module.map(readModule) }),
    ...(password !== undefined && { authentication_engine_pass: password }),
  } as Request
}

/** Settings as fields of the API; the server validates their values. */
export function settingsIn(options: SettingsOptions): Readonly<Record<string, unknown>> {
  const { replication, persistence, aofPolicy, snapshot, eviction, defaultUser } = options
  return {
    ...(replication !== undefined && { replication }),
    ...(persistence !== undefined && { data_persistence: persistence }),
    ...(aofPolicy !== undefined && { aof_policy: aofPolicy }),
    ...(snapshot.length > 0 && { snapshot_policy: snapshot.map(readSnapshot) }),
    ...(eviction !== undefined && { eviction_policy: eviction }),
    ...(defaultUser !== undefined && { default_user: defaultUser }),
  }
}

/** "60:1000": after 60 seconds with at least 1000 writes. */
function readSnapshot(text: string): { readonly secs: number; readonly writes: number } {
  const [, secs, writes] = /^(\d+):(\d+)$/.exec(text) ?? []
  if (secs === undefined)
    throw new CommandFault('usage', `--snapshot: ${text} is not seconds and writes; write it like 60:1000`)
  return { secs: Number(secs), writes: Number(writes) }
}

/** "search", "search@2.8.4", "search@2.8.4=MAXSEARCHRESULTS 100". */
function readModule(text: string): object {
  const [, name, version, args] = /^([^@=]+)(?:@([^=]+))?(?:=(.*))?$/s.exec(text) ?? []
  if (name === undefined)
    throw new CommandFault(
      'usage',
      `--module: ${text} is no module; write it like NAME, NAME@VERSION or NAME=ARGUMENTS`,
    )
  return {
    module_name: name,
    ...(version !== undefined && { semantic_version: version }),
    ...(args !== undefined && { module_args: args }),
  }
}

/** Fields of the request as "field=json"; a value that is no JSON is a text. */
export function setFields(given: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    given.map((text) => {
      const [, field, value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? []
      if (field === undefined) throw new CommandFault('usage', `--set: ${text} is not field=value`)
      try {
        return [field, JSON.parse(value)]
      } catch {
        return [field, value]
      }
    }),
  )
}
