import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../../proof/free-port.ts'
import { until } from '../../../proof/until.ts'
import type { PostgresAddress } from '../src/core/state/read-postgres-address.ts'
import { otherUid } from './other-user.ts'
import { findIn, type PostgresPrograms, postgresHere } from './postgres-here.ts'

/** A real PostgreSQL for one test, on a Unix socket and, if given, a loopback port. Disposing removes it. */
export interface TestPostgres extends AsyncDisposable {
  /** The folder of its socket. */
  readonly folder: string
  /** Writes a file of its folder, as its user; PostgreSQL reads its settings from such files. */
  write(file: string, text: string): Promise<void>
  /** Creates a new, empty database. */
  makeDatabase(): Promise<PostgresAddress>
  /** Runs `sql` as its superuser, in `database` if that is given. */
  run(sql: string, database?: string): Promise<readonly Record<string, unknown>[]>
  /** `fast`: ends sessions; `immediate`: like a crash; `killed`: kill -9; `frozen`: SIGSTOP. */
  stop(how: Stop): Promise<void>
  /** Starts it again, or resumes it. */
  start(): Promise<void>
  /** Starts a replica that follows this one asynchronously, through the socket in the folder `through`. */
  follow(through: string): Promise<TestReplica>
}

/** A replica, which accepts no writes until it takes over. */
export interface TestReplica extends Pick<TestPostgres, 'folder' | 'run'>, AsyncDisposable {
  takeOver(): Promise<void>
}

type Stop = 'fast' | 'immediate' | 'killed' | 'frozen'

const run = promisify(execFile)
const SUPERUSER = 'postgres'
/** PostgreSQL refuses to run as root. */
const identity = process.getuid?.() === 0 ? { uid: otherUid, gid: otherUid } : {}

/** Starts a PostgreSQL. `tcp`: it also listens on loopback, at the port in its addresses. */
export async function startPostgres({ tcp = false }: { readonly tcp?: boolean } = {}): Promise<TestPostgres> {
  const programs = postgresHere()
  if (programs === null) throw new Error('no PostgreSQL on this machine: apt-get install postgresql')
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-postgres-'))
  if (process.getuid?.() === 0) await chown(folder, otherUid, otherUid)
  await chmod(folder, 0o700)
  const data = join(folder, 'data')
  const port = tcp ? await freePort() : undefined
  const { bin, environment } = await reachable(programs, folder)
  const place = {
    ...identity,
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: 'ignore' as const,
  }
  const options = ['-U', SUPERUSER, '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C']
  await run(join(bin, 'initdb'), ['-D', data, ...options], { ...identity, cwd: folder, env: place.env })
  await writeFile(join(data, 'postgresql.auto.conf'), settings(folder, port))
  const ask = askAt(folder, port)
  const { start, stop } = processOf(() => spawn(join(bin, 'postgres'), ['-D', data], place), ask)
  await start()
  let made = 0
  return {
    folder,
    async makeDatabase() {
      made += 1
      const database = `fairlead_${made}`
      await ask(`create database ${database}`)
      return addressAt(folder, database, port)
    },
    async write(file, text) {
      await writeFile(join(data, file), text, { mode: 0o600 })
      if (process.getuid?.() === 0) await chown(join(data, file), otherUid, otherUid)
    },
    run: ask,
    stop,
    start,
    follow: (through) => startReplica(through, { bin, place, folder: join(folder, 'replica') }),
    async [Symbol.asyncDispose]() {
      await stop('immediate')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Its folder is in that of the other PostgreSQL, and is removed together with it. */
async function startReplica(
  through: string,
  { bin, place, folder }: { readonly bin: string; readonly place: SpawnOptions; readonly folder: string },
): Promise<TestReplica> {
  const data = join(folder, 'data')
  await mkdir(folder, { mode: 0o700 })
  if (process.getuid?.() === 0) await chown(folder, otherUid, otherUid)
  const from = ['-h', through, '-U', SUPERUSER, '-D', data, '-R', '-c', 'fast', '-X', 'stream']
  await run(join(bin, 'pg_basebackup'), from, { ...identity, cwd: folder, env: place.env })
  const socket = ['-c', `unix_socket_directories=${folder}`]
  const ask = askAt(folder)
  const { start, stop } = processOf(() => spawn(join(bin, 'postgres'), ['-D', data, ...socket], place), ask)
  await start()
  return {
    folder,
    run: ask,
    takeOver: async () => void (await ask('select pg_promote()')),
    [Symbol.asyncDispose]: () => stop('immediate'),
  }
}

type Ask = TestPostgres['run']

function addressAt(folder: string, database: string, port = 5432): PostgresAddress {
  return { host: folder, port, database, user: SUPERUSER, tls: null }
}

function askAt(folder: string, port?: number): Ask {
  return async (sql, database = 'postgres') => {
    const client = new pg.Client(addressAt(folder, database, port) as pg.ClientConfig)
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows
    } finally {
      await client.end()
    }
  }
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', killed: 'SIGKILL' } as const

/** One process, which a test ends and starts again. */
function processOf(begin: () => ChildProcess, ask: Ask): Pick<TestPostgres, 'start' | 'stop'> {
  let server: ChildProcess | undefined
  const hasEnded = () => server === undefined || server.exitCode !== null || server.signalCode !== null
  return {
    async start() {
      if (server?.kill('SIGCONT') === true) return
      const answersOrBegins = async () => {
        // A killed PostgreSQL leaves children, and as long as one of them exists, another one does not start.
        if (hasEnded()) server = begin()
        return answers(() => ask('select 1'))
      }
      await until('PostgreSQL answers', answersOrBegins)
    },
    async stop(how) {
      if (server === undefined) return
      if (how === 'frozen') return void server.kill('SIGSTOP')
      server.kill('SIGCONT')
      server.kill(signals[how])
      if (!hasEnded()) await once(server, 'exit')
      server = undefined
    },
  }
}

/** The programs in a folder that PostgreSQL's user can read: a repository of root may be closed to it. */
async function reachable({ folder: bin, tree, environment }: PostgresPrograms, folder: string) {
  if (tree === null || process.getuid?.() !== 0) return { bin, environment }
  const copy = join(folder, 'programs')
  await cp(tree, copy, { recursive: true, verbatimSymlinks: true })
  const found = findIn(join(copy, 'usr'), copy)
  if (found === null) throw new Error(`no PostgreSQL in ${copy}`)
  return { bin: found.folder, environment: found.environment }
}

function settings(folder: string, port: number | undefined): string {
  const lines = {
    listen_addresses: port === undefined ? "''" : "'127.0.0.1'",
    port: String(port ?? 5432),
    unix_socket_directories: `'${folder}'`,
    fsync: 'off',
    max_connections: '60',
    shared_buffers: '16MB',
    jit: 'off',
    timezone: 'GMT',
    log_timezone: 'GMT',
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}

async function answers(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask()
    return true
  } catch {
    return false
  }
}
