import { ApiError } from '@fairlead/api/lean'
import type { CommonOptions, Context } from '../link/open-context.ts'
import { CommandFault } from '../output/command-fault.ts'
import { printList, printOne } from '../output/print-answer.ts'
import { databaseColumns } from './describe-database.ts'
import { findDatabase } from './find-database.ts'
import { columnsWithRoles } from './people/grants.ts'
import { placeOf } from './reach.ts'
import { isHarmful } from './upgrades/describe-choice.ts'

/** The options of `databases list`, checked by the server. */
export interface ListOptions extends CommonOptions {
  readonly search?: string
  readonly engineVersion?: string
  readonly status?: string
  readonly upgradable?: boolean
  readonly sort?: string
  readonly limit?: number
}

type ListQuery = NonNullable<Parameters<Api['listDatabases']>[0]['query']>
type Api = Awaited<ReturnType<Context['link']>>['api']

/** Page size of longer lists. */
const PAGE = 500

/** Prints the databases that the user may see. */
export async function listDatabases(context: Context, options: ListOptions): Promise<void> {
  const { api } = await context.link()
  const { search, engineVersion, status, sort, limit = Number.POSITIVE_INFINITY } = options
  const query = {
    ...(search !== undefined && { q: search }),
    ...(engineVersion !== undefined && { engine_version: engineVersion }),
    ...(status !== undefined && { status }),
    ...(sort !== undefined && { sort }),
    limit: Math.min(PAGE, limit),
  } as ListQuery // the server validates the words
  const rows = []
  for await (const page of api.listDatabases.pages({ query })) {
    rows.push(...page.filter(({ upgradable_to }) => options.upgradable !== true || upgradable_to != null))
    if (rows.length >= limit) break
  }
  const isChosen = search ?? engineVersion ?? status ?? options.upgradable
  printList(
    context.terminal,
    {
      rows: rows.slice(0, limit),
      columns: databaseColumns,
      nameOf: ({ name }) => name,
      empty:
        isChosen === undefined
          ? 'There is no database yet: fairlead databases create NAME'
          : 'There is none of these.',
    },
    context.answer,
  )
}

/** Prints one database. */
export async function showDatabase(context: Context, word: string): Promise<void> {
  const link = await context.link()
  const { uid } = await findDatabase(link, word)
  const row = await link.api.getDatabase({ params: { uid } })
  const columns = await columnsWithRoles(context, link, row)
  printOne(context.terminal, { row, columns, nameOf: ({ name }) => name }, context.answer)
}

/** Checks availability like a client; exit code 1 if the database cannot be used. */
export async function showAvailability(context: Context, word: string): Promise<void> {
  const link = await context.link()
  const { uid, name } = await findDatabase(link, word)
  try {
    const row = await link.api.getAvailability({ params: { uid } })
    const columns = [{ name: 'available', value: () => true }]
    printOne(context.terminal, { row, columns, nameOf: () => name }, context.answer)
  } catch (cause) {
    if (!(cause instanceof ApiError) || !unavailable.includes(cause.code)) throw cause
    throw new CommandFault('failed', `clients cannot use ${name} now: ${cause.message}`, { code: cause.code })
  }
}

const unavailable: readonly string[] = ['bdb_unavailable_shard_unreachable', 'bdb_unavailable_port_unbound']

/** Prints the client login. Needs `--reveal` without a terminal, because others may keep the output. */
export async function showCredentials(
  context: Context,
  word: string,
  { reveal }: { readonly reveal?: boolean },
): Promise<void> {
  if (!context.terminal.outIsTerminal && reveal !== true)
    throw new CommandFault('usage', 'this prints a password, and stdout is no terminal', {
      next: 'say it: --reveal',
    })
  const link = await context.link()
  const { uid, name } = await findDatabase(link, word)
  const row = await link.api.getCredentials({ params: { uid } })
  const scheme = row.tls_mode === 'enabled' ? 'rediss' : 'redis'
  const place = placeOf(row)
  printOne(
    context.terminal,
    {
      row,
      nameOf: () => name,
      columns: [
        { name: 'endpoint', value: () => place },
        { name: 'username', value: ({ username }) => username },
        { name: 'password', value: ({ password }) => password },
        { name: 'tls', value: ({ tls_mode }) => tls_mode },
        {
          name: 'url',
          value: ({ password }) => `${scheme}://default:${encodeURIComponent(password)}@${place}`,
        },
      ],
    },
    context.answer,
  )
}

/** Prints the clients of a database's endpoint. */
export async function listClients(
  context: Context,
  word: string,
  { limit }: { readonly limit?: number },
): Promise<void> {
  const link = await context.link()
  const { uid } = await findDatabase(link, word)
  const query = limit === undefined ? {} : { limit }
  const { clients, connections } = await link.api.listEndpointClients({ params: { uid }, query })
  printList(
    context.terminal,
    {
      rows: clients,
      nameOf: ({ client }) => client,
      empty: 'No client is connected.',
      columns: [
        { name: 'client', value: ({ client }) => client },
        { name: 'connected_at', value: ({ connected_at }) => connected_at },
        { name: 'name', value: ({ name }) => name },
        { name: 'user', value: ({ user }) => user },
        { name: 'held', value: ({ held }) => held },
        { name: 'via', value: ({ via }) => via.map(({ shard }) => shard).join(' '), isWide: true },
      ],
    },
    context.answer,
  )
  if (connections > clients.length) context.terminal.say(`${connections - clients.length} more: --limit\n`)
}

/** Prints the possible upgrade targets of a database, and the obstacles of other builds. */
export async function listTargets(context: Context, word: string): Promise<void> {
  const link = await context.link()
  const { uid } = await findDatabase(link, word)
  const rows = await link.api.listUpgradeTargets({ params: { uid } })
  printList(
    context.terminal,
    {
      rows,
      nameOf: ({ engine, engine_version }) => `${engine}-${engine_version}`,
      columns: [
        { name: 'engine', value: ({ engine, engine_version }) => `${engine} ${engine_version}` },
        {
          name: 'possible',
          value: ({ possible }) => possible,
          shown: ({ possible, current }) => (current ? 'runs it' : possible ? 'yes' : 'no'),
          style: ({ possible }) => (possible ? 'good' : 'warn'),
        },
        {
          name: 'recommended',
          value: ({ recommended }) => recommended,
          shown: (target) => (target.recommended ? (isHarmful(target) ? 'least bad' : 'yes') : ''),
        },
        { name: 'known_holes', value: ({ known_holes }) => known_holes.length },
        {
          name: 'in_the_way',
          value: ({ current, obstacles }) =>
            current ? '' : obstacles.map(({ message }) => message).join(' · '),
        },
      ],
    },
    context.answer,
  )
}
