import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Build } from '@fairlead/api'
import { connectEngine, databaseUserRights, type EngineConnection } from '@fairlead/engine'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { freePortsFrom } from '../../../proof/free-port.ts'
import { spawnEngine } from '../../../proof/spawn-engine.ts'
import { until } from '../../../proof/until.ts'
import { usualBuilds } from '../../../proof/usual-builds.ts'
import { aclWords } from '../src/core/carry-over/acl-words.ts'

/** A real engine for one test, with users like an agent's, and an administrator's connection. */
export interface TestEngine extends AsyncDisposable {
  readonly build: Build
  readonly admin: EngineConnection
  /** The file of its users. */
  readonly aclfile: string
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

export const USER_PASSWORD = 'of-the-database'
export const ADMIN_PASSWORD = 'of-the-admin'
/** Test files run side by side: each worker has ports of its own. */
const first = 21_600 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 8) * 50
const freePort = freePortsFrom(first, first + 49)

const everyBuild: readonly Build[] = readdirSync(enginesFolder())
  .toSorted()
  .flatMap((name) => {
    const [, flavour, version = ''] = /^(valkey|redis|redict)-(\d+\.\d+\.\d+)$/.exec(name) ?? []
    return flavour === undefined ? [] : [{ flavour: flavour as Build['flavour'], version }]
  })

/** Engine builds of the folder of builds that this run tries. */
export const builds = usualBuilds(everyBuild)

export function digest(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}

/** Starts `build` with an agent's users. `settings` are additional lines of its configuration. */
export async function startTestEngine(build: Build, settings: readonly string[] = []): Promise<TestEngine> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-users-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const address = { host: '127.0.0.1', port: await freePort() }
  const aclfile = join(folder, 'users.acl')
  const everything = aclWords(build).channels ? '~* &*' : '~*'
  const rights = databaseUserRights(build, false).join(' ')
  await writeFile(
    aclfile,
    `user fairlead on #${digest(ADMIN_PASSWORD)} ${everything} +@all\nuser default on #${digest(USER_PASSWORD)} ${everything} ${rights}\n`,
  )
  const own = [`bind ${address.host}`, `port ${address.port}`, `aclfile ${aclfile}`, 'save 900 1']
  const name = `${build.flavour}-${build.version}`
  const engine = opened.use(await spawnEngine(name, { lines: [...own, ...settings] }))
  const login = { username: 'fairlead', password: ADMIN_PASSWORD }
  // A busy machine may take seconds, so the time limit of a test's command is long.
  const patience = { connectTimeoutMs: 20_000, commandTimeoutMs: 20_000 }
  const connect = () => connectEngine({ address, login, ...patience }).catch(() => null)
  const admin = opened.use(await until(`${name} answers`, connect, { withinMs: 60_000 }))
  const owned = opened.move()
  return {
    build,
    admin,
    aclfile,
    signal: (name) => void engine.child.kill(name),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
