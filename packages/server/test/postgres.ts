import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { until } from '../../../proof/until.ts'
import type { PostgresAddress } from '../src/core/state/read-postgres-address.ts'
import { otherUid } from './other-user.ts'
import { findIn, type PostgresPrograms, postgresHere } from './postgres-here.ts'

/** A real PostgreSQL of this test's own, on a Unix socket. Disposing of it ends it, and leaves nothing. */
export interface TestPostgres extends AsyncDisposable {
  /** A new, empty database. */
  makeDatabase(): Promise<PostgresAddress>
  /** Runs `sql` as its superuser, in `database` where it is given. */
  run(sql: string, database?: string): Promise<readonly Record<string, unknown>[]>
  /** `fast`: sessions are ended; `immediate`: as a crash; `frozen`: it is stopped (SIGSTOP). */
  stop(how: 'fast' | 'immediate' | 'frozen'): Promise<void>
  /** Runs it again, or goes on. */
  start(): Promise<void>
}

const run = promisify(execFile)
const SUPERUSER = 'postgres'
/** It refuses to run as root. */
const identity = process.getuid?.() === 0 ? { uid: otherUid, gid: otherUid } : {}

/** Starts one. `programs`: as postgresHere finds them, unless told. */
export async function startPostgres(programs = postgresHere()): Promise<TestPostgres> {
  if (programs === null) throw new Error('no PostgreSQL on this machine: apt-get install postgresql')
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-postgres-'))
  if (process.getuid?.() === 0) await chown(folder, otherUid, otherUid)
  await chmod(folder, 0o700)
  const data = join(folder, 'data')
  const { bin, environment } = await reachable(programs, folder)
  const place = { ...identity, cwd: folder, env: { ...process.env, ...environment } }
  const wishes = ['-U', SUPERUSER, '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C']
  await run(join(bin, 'initdb'), ['-D', data, ...wishes], place)
  await writeFile(join(data, 'postgresql.auto.conf'), settings(folder))
  let server: ChildProcess | undefined
  const address = (database: string): PostgresAddress => ({
    ...{ host: folder, port: 5432, database, user: SUPERUSER },
    tls: null,
  })
  const ask = async (sql: string, database = 'postgres') => {
    const client = new pg.Client(address(database) as pg.ClientConfig)
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows
    } finally {
      await client.end()
    }
  }
  const start = async () => {
    if (server?.kill('SIGCONT') === true) return
    server = spawn(join(bin, 'postgres'), ['-D', data], { ...place, stdio: 'ignore' })
    await until('PostgreSQL answers', () => answers(() => ask('select 1')), { withinMs: 30_000 })
  }
  const stop = async (how: 'fast' | 'immediate' | 'frozen') => {
    if (server === undefined) return
    if (how === 'frozen') return void server.kill('SIGSTOP')
    server.kill('SIGCONT')
    server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    server = undefined
  }
  await start()
  let made = 0
  return {
    async makeDatabase() {
      made += 1
      await ask(`create database fairlead_${made}`)
      return address(`fairlead_${made}`)
    },
    run: ask,
    stop,
    start,
    async [Symbol.asyncDispose]() {
      await stop('immediate')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The programs, where the user that PostgreSQL runs as can read them: a repository of root may be closed to it. */
async function reachable({ folder: bin, tree, environment }: PostgresPrograms, folder: string) {
  if (tree === null || process.getuid?.() !== 0) return { bin, environment }
  const copy = join(folder, 'programs')
  await cp(tree, copy, { recursive: true, verbatimSymlinks: true })
  const found = findIn(join(copy, 'usr'), copy)
  if (found === null) throw new Error(`no PostgreSQL in ${copy}`)
  return { bin: found.folder, environment: found.environment }
}

function settings(folder: string): string {
  const lines = {
    listen_addresses: "''",
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
