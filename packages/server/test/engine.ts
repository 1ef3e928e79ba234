import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Build } from '@fairlead/api'
import { connectEngine, databaseUserRights, type EngineConnection } from '@fairlead/engine'
import { aclWords } from '../src/core/carry-over/acl-words.ts'

/** A real engine of this test's own, with users as an agent writes them and a connection of the administrator. */
export interface TestEngine extends AsyncDisposable {
  readonly build: Build
  readonly admin: EngineConnection
  /** Where its users are kept. */
  readonly aclfile: string
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

export const USER_PASSWORD = 'of-the-database'
export const ADMIN_PASSWORD = 'of-the-admin'
const folderOfBuilds =
  process.env['FAIRLEAD_ENGINES'] ?? fileURLToPath(new URL('../../../.fairlead/engines', import.meta.url))
// Two files of tests run at a time: each process has ports of its own.
const first = 21_600 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 4) * 100
const ports = { next: first, last: first + 99 }

/** Every engine build that lies unpacked in the folder of builds. */
export const builds: readonly Build[] = readdirSync(folderOfBuilds)
  .toSorted()
  .flatMap((name) => {
    const [, flavour, version = ''] = /^(valkey|redis|redict)-(\d+\.\d+\.\d+)$/.exec(name) ?? []
    return flavour === undefined ? [] : [{ flavour: flavour as Build['flavour'], version }]
  })

export function digest(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}

/** `settings`: further lines of its configuration. */
export async function startTestEngine(build: Build, settings: readonly string[] = []): Promise<TestEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-settings-'))
  const address = { host: '127.0.0.1', port: await freePort() }
  const aclfile = join(folder, 'users.acl')
  const everything = aclWords(build).channels ? '~* &*' : '~*'
  const rights = databaseUserRights(build, false).join(' ')
  await writeFile(
    aclfile,
    `user fairlead on #${digest(ADMIN_PASSWORD)} ${everything} +@all\nuser default on #${digest(USER_PASSWORD)} ${everything} ${rights}\n`,
  )
  const conf = join(folder, 'engine.conf')
  await writeFile(
    conf,
    [
      ...[
        `bind ${address.host}`,
        `port ${address.port}`,
        `dir ${folder}`,
        `aclfile ${aclfile}`,
        'save 900 1',
      ],
      ...settings,
    ].join('\n'),
  )
  const program = join(folderOfBuilds, `${build.flavour}-${build.version}`, 'bin', `${build.flavour}-server`)
  const child = spawn(program, [conf], { stdio: 'ignore', cwd: folder })
  const stop = async () => {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null
    child.kill('SIGKILL')
    await exited
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const admin = await connectSoon(address)
    return {
      build,
      admin,
      aclfile,
      signal: (name) => void child.kill(name),
      async [Symbol.asyncDispose]() {
        admin[Symbol.dispose]()
        await stop()
      },
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}

async function connectSoon(address: EngineConnection['address']): Promise<EngineConnection> {
  const deadlineMs = performance.now() + 10_000
  for (;;) {
    try {
      return await connectEngine({ address, login: { username: 'fairlead', password: ADMIN_PASSWORD } })
    } catch (cause) {
      if (performance.now() > deadlineMs) throw cause
      await delay(10)
    }
  }
}

async function freePort(): Promise<number> {
  while (ports.next <= ports.last) {
    const port = ports.next
    ports.next += 1
    const server = createServer()
    const free = Promise.withResolvers<boolean>()
    server.on('error', () => free.resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => free.resolve(true)))
    if (await free.promise) return port
  }
  throw new Error(`no free port left up to ${ports.last}`)
}
