import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, createClient, fetchTransport, operations } from '@fairlead/api'
import { startLoad } from '@fairlead/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts'
import { postgresHere } from '../packages/server/test/postgres-here.ts'
import { usualPair } from '../proof/engine-pairs.ts'
import { startFairlead, startPart } from '../proof/start-fairlead.ts'
import { until } from '../proof/until.ts'

const { from, to } = usualPair()
const serverMain = join(import.meta.dirname, 'crash-main.ts')

type Name = 'one' | 'other'
/** A signal; or its way to PostgreSQL leads nowhere. */
type Blow = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'cut off'
/** What is killed leaves its leases to their time, as what is paused or cut off does: that costs another quarter of a minute. */
const blows: readonly Blow[] = [
  ...(process.env['EVERY_BLOW'] === undefined ? [] : (['SIGKILL'] as const)),
  ...(['SIGTERM', 'SIGSTOP', 'cut off'] as const),
]

let postgres: TestPostgres | undefined
beforeAll(async () => {
  if (postgresHere() !== null) postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

test.skipIf(postgresHere() === null)(
  'two servers on one PostgreSQL: an upgrade goes on when the one that carries it out is stopped, paused beyond its lease, or cut off',
  { timeout: 240_000 },
  async () => {
    await using two = await startTwo()
    const { one, other } = two
    const created = await one.api.createDatabase({
      body: { name: 'shared', memory_size: 0, replication: true, engine_version: from },
    })
    await one.untilEnded(created.action_uid)
    const { uid, authentication_engine_pass: password = '' } = await one.api.getDatabase({
      params: { uid: created.uid },
    })
    await using load = await startLoad({
      ...{ kind: 'incr', connections: 4, perSecond: 1_000, password },
      lookup: { url: `${one.url}/v1/bdbs/${uid}`, token: one.token },
    })
    for (const how of blows) {
      await load.untilAcked(load.acked() + 100)
      // Asked for at either server: the one that holds the database hears of it.
      const asked = how === 'SIGTERM' ? one.api : other.api
      const body =
        how === blows[0] ? { engine_version: to } : { force_restart: true, keep_engine_version: true }
      const { action_uid: actionUid = '' } = await asked.upgradeDatabase({ params: { uid }, body })
      expect(actionUid, how).not.toBe('')
      await until('it has begun', async () => {
        const { progress } = await asked.getAction({ params: { uid: actionUid } })
        return progress > 0
      })
      const holder = await two.holderOf(uid)
      const began = performance.now()
      await two.strike(holder, how)
      const left = holder === 'one' ? other : one
      let seen: Action | undefined
      const action = await until(
        () => `the upgrade ends after ${how} of ${holder}: ${JSON.stringify(seen)}`,
        async () => {
          seen = await left.api.getAction({ params: { uid: actionUid } }).catch(() => seen)
          return seen?.status === 'completed' || seen?.status === 'failed' ? seen : undefined
        },
        { withinMs: 60_000, everyMs: 50 },
      )
      expect(action, how).toMatchObject({ status: 'completed' })
      expect(performance.now() - began).toBeLessThan(50_000)
      await two.mend(holder)
    }
    await load.untilAcked(load.acked() + 100)
    await load.stop()
    const { lost, duplicated } = await load.readBack()
    expect({ lost, duplicated }).toEqual({ lost: 0, duplicated: 0 })
  },
)

/** A Fairlead with a second server, which has a home of its own, and the agent and the proxy of the first. */
async function startTwo() {
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  await using opened = new AsyncDisposableStack()
  const { host, database, user } = await postgres.makeDatabase()
  const ask = postgres.run
  const ways = { one: opened.use(await startWay(host)), other: opened.use(await startWay(host)) }
  const storeBy = (name: Name) => ({
    FAIRLEAD_STORE: `postgres://${user}@localhost/${database}?host=${ways[name].folder}`,
  })
  const env = { ...storeBy('one'), FAIRLEAD_STORE_KEY: randomBytes(32).toString('base64') }
  const one = opened.use(await startFairlead({ serverMain, env }))
  const home = await mkdtemp(join(tmpdir(), 'fairlead-other-'))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'run'), { mode: 0o700 })
  await symlink(join(one.home, 'run', 'agent.sock'), join(home, 'run', 'agent.sock'))
  await symlink(join(one.home, 'proxy'), join(home, 'proxy'))
  const own = { ...storeBy('other'), FAIRLEAD_HOME: home, FAIRLEAD_HTTP_PORT: '0' }
  const otherEnv = { ...one.environment, ...own }
  const part = opened.use(await startPart([serverMain], otherEnv))
  const transport = (request: Parameters<ReturnType<typeof fetchTransport>>[0]) =>
    fetchTransport(part.url())(request)
  const other = { api: createClient(operations, transport, () => one.token), server: part }
  const parts = { one: one.server, other: part }
  const nameOf = (pid: number): Name | undefined => {
    if (parts.one.pid === pid) return 'one'
    return parts.other.pid === pid ? 'other' : undefined
  }
  const struck = new Map<Name, Blow>()
  const owned = opened.move()
  return {
    ...{ one, other },
    /** The server that looks after a database now. */
    holderOf: (uid: number) =>
      until('a server holds it', async () => {
        const [row] = await ask(`select holder from buckets where bucket = ${uid % 256}`, database)
        return nameOf(Number(String(row?.['holder']).split(':')[1]))
      }),
    async strike(name: Name, how: Blow) {
      struck.set(name, how)
      if (how === 'cut off') ways[name].cut()
      else if (how === 'SIGSTOP') process.kill(parts[name].pid, how)
      else await parts[name].end(how)
    },
    async mend(name: Name) {
      const how = struck.get(name)
      if (how === 'cut off') ways[name].mend()
      else if (how === 'SIGSTOP') process.kill(parts[name].pid, 'SIGCONT')
      else await parts[name].start()
      await until('both hold some', async () => {
        const rows = await ask('select distinct holder from buckets where expires_at > 0', database)
        return rows.length === 2
      })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The way of one server to PostgreSQL, which can be cut: then nothing goes through any more, and nothing is said. */
async function startWay(to: string) {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-way-'))
  const name = '.s.PGSQL.5432'
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(join(to, name))
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => isCut || into.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        if (!isCut) into.destroy()
      })
    }
  })
  server.listen(join(folder, name))
  await once(server, 'listening')
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    folder,
    cut() {
      isCut = true
    },
    mend() {
      end()
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      server.close()
      end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
