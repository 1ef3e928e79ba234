import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Context, openContext } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { openTerminal } from '../../output/terminal.ts'
import { readPrivate, writePrivate } from '../../profiles/private-file.ts'
import type { Names } from './complete.ts'

/** A person waits for it at each Tab. */
const WITHIN_MS = 300
/** Time that answers are cached. */
const KEPT_MS = 10_000
/** More names do not fit on a screen. */
const MOST = 1_000

type Ask = (api: Link['api'], signal: AbortSignal) => Promise<readonly string[]>

const databases: Ask = async (api, signal) => {
  const all = await api.listDatabases({ query: { fields: 'name', limit: MOST } }, { signal })
  return all.map(({ name }) => name)
}
const builds: Ask = async (api, signal) => {
  const all = await api.listEngineVersions({}, { signal })
  return all.map(({ engine, engine_version }) => `${engine}-${engine_version}`)
}

/** Queries by kind of value. The kinds are words of the tree. */
const asks: Readonly<Record<string, Ask>> = {
  backup: async (api, signal) => (await api.listBackups({ query: {} }, { signal })).map(({ name }) => name),
  database: databases,
  databases,
  build: builds,
  action: async (api, signal) => {
    const query = { status: 'active', limit: MOST } as const
    const [running, names] = await Promise.all([
      api.listActions({ query }, { signal }),
      api.listDatabases({ query: { fields: 'uid,name', limit: MOST } }, { signal }),
    ])
    const known = new Map(names.map(({ uid, name }) => [uid, name]))
    return running['state-machines'].map((one) => known.get(one.bdb_uid ?? 0) ?? one.action_uid)
  },
  user: async (api, signal) => (await api.listUsers({ query: {} }, { signal })).map(({ name }) => name),
  role: async (api, signal) => (await api.listRoles({ query: {} }, { signal })).map(({ name }) => name),
  acl: async (api, signal) => (await api.listEngineAcls({}, { signal })).map(({ name }) => name),
  node: async (api, signal) => (await api.listNodes({}, { signal })).map(({ uid }) => String(uid)),
  module: async (api, signal) => (await api.listModules({}, { signal })).map(({ uid }) => uid),
}

/** Asks the server for names, by default within 300 ms, and caches them for 10 s. Returns [] on a fault. */
export function namesOfServer(env: NodeJS.ProcessEnv, withinMs: number = WITHIN_MS): Names {
  return async (kind, options) => {
    try {
      const terminal = openTerminal(env, { input: false }, new AbortController().signal)
      const [profile, server] = [options.get('--profile'), options.get('--server')]
      const flags = { profile, server, caFile: options.get('--ca-file'), timeout: withinMs / 1_000 }
      const context = openContext(terminal, withoutUndefined(flags), 'table')
      if (kind === 'profile') return Object.keys(context.files.readConfig().profiles ?? {})
      const ask = asks[kind]
      return ask === undefined ? [] : await askKept(context, kind, ask)
    } catch {
      return []
    }
  }
}

function withoutUndefined<T extends object>(flags: T): Partial<{ [K in keyof T]: NonNullable<T[K]> }> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Partial<{
    [K in keyof T]: NonNullable<T[K]>
  }>
}

async function askKept(context: Context, kind: string, ask: Ask): Promise<readonly string[]> {
  const file = fileOf(context, kind)
  const kept = file === undefined ? undefined : readOrNone(file)
  if (kept !== undefined) return kept
  const signal = AbortSignal.timeout(context.withinMs)
  const { api } = await context.link()
  const names = [...new Set(await ask(api, signal))]
  if (file !== undefined) keep(file, names)
  return names
}

/** Ignores errors: the names are good without a cache. */
function keep(file: string, names: readonly string[]): void {
  try {
    writePrivate(file, JSON.stringify({ endsMs: Date.now() + KEPT_MS, names }))
  } catch {
    // The next Tab asks again.
  }
}

/** Treats a damaged file as missing. */
function readOrNone(file: string): readonly string[] | undefined {
  try {
    return readKept(file)
  } catch {
    return undefined
  }
}

function readKept(file: string): readonly string[] | undefined {
  const text = readPrivate(file, { isSecret: true })
  if (text === undefined) return undefined
  const { endsMs, names } = JSON.parse(text) as { readonly endsMs: number; readonly names: readonly string[] }
  return Date.now() < endsMs && endsMs <= Date.now() + KEPT_MS ? names : undefined
}

/** The cache is separate for each user and server. */
function fileOf({ terminal, target }: Context, kind: string): string | undefined {
  const { XDG_CACHE_HOME: cache, HOME: home, FAIRLEAD_HOME: own = '' } = terminal.env
  const folder = cache || (home && join(home, '.cache'))
  if (!folder) return undefined
  const { server, login, token, profile } = target()
  const whose = [server?.value ?? own, server === undefined ? process.cwd() : '', profile.value]
  const key = [kind, ...whose, login?.username ?? '', token?.value ?? '']
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32)
  return join(folder, 'fairlead', 'names', `${name}.json`)
}
