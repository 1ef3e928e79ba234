import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectEngine, readClusterNodes } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { buildsOfEachLine } from '../../../proof/engine-pairs.ts'
import { asAdmin, specOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { startStrangeEngine } from '../../support/start-strange-engine.ts'

const GROUPS = 3
const KEYS = 300
/** Shards that speak without TLS to each other, like those of older databases. */
const env = { FAIRLEAD_SHARD_TLS: 'off' }
/** Long, because five clusters run at once, on a machine with other work. */
const LONG = { withinMs: 40_000 }
const builds = buildsOfEachLine()

interface Sharded {
  readonly uid: number
  readonly shards: readonly number[]
}

/** Three groups of this build, with 300 keys in them. */
async function createWithKeys(fairlead: Fairlead, engine_version: string): Promise<Sharded> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: engine_version.replaceAll('.', '-'), memory_size: 0, shards_count: GROUPS, engine_version },
  })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  const database = await fairlead.api.getDatabase({ params: { uid } })
  const { port, authentication_engine_pass: password = '' } = database
  using client = await connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'default', password },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
  for (let n = 0; n < KEYS; n += 1) await client.call('SET', `key-${n}`, n)
  return { uid, shards: database.shard_list }
}

async function keysOf(fairlead: Fairlead, { shards }: Sharded): Promise<number> {
  const sizes = await Promise.all(
    shards.map(async (shard) => {
      using admin = await asAdmin(fairlead, shard)
      return Number(await admin.call('DBSIZE'))
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The view of each shard: its own slots, and whether it knows a node with this id. */
async function viewsOf(fairlead: Fairlead, { shards }: Sharded, stranger: string) {
  return Promise.all(
    shards.map(async (shard) => {
      using admin = await asAdmin(fairlead, shard)
      const nodes = readClusterNodes(String(await admin.call('CLUSTER', 'NODES')))
      const own = nodes.find(({ myself }) => myself)
      return {
        slots: own?.slots ?? '',
        follows: own?.primary ?? '',
        knows: nodes.some(({ id }) => id === stranger),
      }
    }),
  )
}

async function logTypes(fairlead: Fairlead, uid: number): Promise<readonly string[]> {
  const logs = await fairlead.api.listLogs({ query: { order: 'desc', limit: 1_000 } })
  return logs.filter(({ bdb_uid }) => bdb_uid === String(uid)).map(({ type }) => type)
}

/**
 * The certificate of a shard, readable for a stranger of another user, and the settings with which an engine
 * shows it.
 */
function copyCertificate({ home }: Fairlead, shard: number) {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  chmodSync(folder, 0o755)
  const copy = (name: string) => {
    const path = join(folder, name)
    copyFileSync(join(home, 'shards', `s${shard}`, name), path)
    chmodSync(path, 0o644)
    return path
  }
  const files = {
    '--tls-ca-cert-file': copy('shards-ca.pem'),
    '--tls-cert-file': copy('shards-cert.pem'),
    '--tls-key-file': copy('shards-key.pem'),
  }
  return {
    args: Object.entries(files).flat(),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Of the bus, above the port for clients. */
const BUS_DISTANCE = 10_000
const ranges = ['0-5461', '5462-10922', '10923-16383']

/**
 * An engine of another user claims all slots with the highest epoch, and joins the cluster through one shard.
 */
async function steal(fairlead: Fairlead, { shards }: Sharded, port: number, args: readonly string[] = []) {
  const stranger = await startStrangeEngine(port, args)
  await stranger.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
  await stranger.call('CLUSTER', 'SET-CONFIG-EPOCH', 100_000)
  const id = String(await stranger.call('CLUSTER', 'MYID'))
  await stranger.call('CLUSTER', 'MEET', '127.0.0.1', specOf(fairlead.home, shards[0] ?? 0).port)
  return Object.assign(stranger, { id })
}

test(`a stranger takes all slots and goes away: ${KEYS} keys are served as before, by every build`, async () => {
  await using fairlead = await startFairlead({ env })
  await using ports = await claimPorts()
  const databases = await Promise.all(builds.map((engine) => createWithKeys(fairlead, engine)))
  await Promise.all(
    databases.map(async (database, n) => {
      let id = ''
      {
        using stranger = await steal(fairlead, database, ports.from + n)
        id = stranger.id
        await until('it has been taken for a primary', async () =>
          (await logTypes(fairlead, database.uid)).includes('bdb_stranger_in_cluster'),
        )
      }
      await until(
        `${builds[n]} serves as before`,
        async () => {
          const views = await viewsOf(fairlead, database, id)
          return views.every(({ slots, knows }, shard) => slots === ranges[shard] && !knows)
        },
        LONG,
      )
      expect(await keysOf(fairlead, database)).toBe(KEYS)
      const { status, status_reason } = await fairlead.api.getDatabase({ params: { uid: database.uid } })
      expect([status, status_reason]).toEqual(['active', ''])
      expect(await logTypes(fairlead, database.uid)).not.toContain('bdb_primary_replaced')
    }),
  )
})

test('the shards have copied the empty data of a stranger: no shard is promoted, and the database says why', async () => {
  await using fairlead = await startFairlead({ env })
  await using ports = await claimPorts()
  const database = await createWithKeys(fairlead, builds.at(-1) ?? '')
  await fairlead.server.end('SIGKILL')
  const login = ['--user', 'fairlead', 'on', 'nopass', '~*', '&*', '+@all']
  using _ = await steal(fairlead, database, ports.from, login)
  await until('the data is gone', async () => (await keysOf(fairlead, database)) === 0, LONG)
  await fairlead.server.start()
  const stopped = await until(
    'it says that a person has to decide',
    async () => {
      const seen = await fairlead.api.getDatabase({ params: { uid: database.uid } })
      return seen.status === 'recovery' ? seen : undefined
    },
    LONG,
  )
  expect(stopped.status_reason).toMatch(/ [0-9a-f]{40} at 127\.0\.0\.1:\d+/)
  const types = await logTypes(fairlead, database.uid)
  expect(types).toContain('bdb_stranger_in_cluster')
  expect(types).not.toContain('bdb_slots_taken_back')
})

test('a node with a certificate of the database has taken all slots over TLS, and is gone while all shards follow it: the slots are taken back', async () => {
  await using fairlead = await startFairlead()
  await using ports = await claimPorts()
  const database = await createWithKeys(fairlead, builds.at(-1) ?? '')
  await fairlead.server.end('SIGKILL')
  let id = ''
  {
    using certificate = copyCertificate(fairlead, database.shards[0] ?? 0)
    using stranger = await steal(fairlead, database, ports.from, [
      ...['--tls-port', String(ports.from + 1), '--cluster-port', String(ports.from + BUS_DISTANCE)],
      ...['--tls-cluster', 'yes', '--tls-replication', 'yes', ...certificate.args],
    ])
    id = stranger.id
    await until('every shard follows it', async () =>
      (await viewsOf(fairlead, database, id)).every(({ follows }) => follows === id),
    )
  }
  await fairlead.server.start()
  await until(
    'it serves as before',
    async () => {
      const views = await viewsOf(fairlead, database, id)
      return views.every(({ slots, knows }, shard) => slots === ranges[shard] && !knows)
    },
    { withinMs: 120_000 },
  )
  expect(await keysOf(fairlead, database)).toBe(KEYS)
  expect(await logTypes(fairlead, database.uid)).toContain('bdb_slots_taken_back')
})
