import { statSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { connectEngine, readClusterNodes, readReplication } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { build, buildsOfEachLine } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { asAdmin, specOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { startStrangeEngine } from '../../support/start-strange-engine.ts'

const builds = buildsOfEachLine()
const LONG = { withinMs: 60_000 }
const file = ({ home }: Fairlead, shard: number, name: string) => join(home, 'shards', `s${shard}`, name)

/** Groups in cluster mode, each with a replica. */
async function create(fairlead: Fairlead, engine_version: string, groups: number) {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: {
      name: freshName('tls'),
      memory_size: 0,
      shards_count: groups,
      sharding: true,
      replication: true,
      engine_version,
    },
  })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  return fairlead.api.getDatabase({ params: { uid } })
}

/** The certificate of a listener, and whether it accepts a client with this certificate, or without one. */
async function shake(port: number, pair?: { readonly cert: string; readonly key: string }) {
  const { promise, resolve } = Promise.withResolvers<'taken' | 'refused'>()
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, timeout: 10_000, ...pair })
  socket.on('timeout', () => socket.destroy(new Error(`nothing is said at port ${port}`)))
  let serial = ''
  socket.on('secureConnect', () => {
    serial = socket.getPeerX509Certificate()?.serialNumber ?? ''
    // Under TLS 1.3 a client is refused after its handshake. An engine that accepts it stays silent, because
    // nothing was sent.
    setTimeout(() => resolve('taken'), 300)
  })
  socket.on('error', () => resolve('refused'))
  socket.on('close', () => resolve('refused'))
  const answer = await promise
  socket.destroy()
  return { answer, serial }
}

// invariant: No process joins a database's cluster bus without a certificate of that database.
test('shards of every build take no process on their bus, or as a replica, without a certificate of the database', {
  timeout: 180_000,
}, async () => {
  await using fairlead = await startFairlead()
  await using ports = await claimPorts()
  const databases = await Promise.all(builds.map((engine) => create(fairlead, engine, 1)))
  const pairs = databases.map(({ shard_list: [first = 0] }) => specOf(fairlead.home, first).tls?.certificate)
  await Promise.all(
    databases.map(async ({ shard_list: shards, port, authentication_engine_pass: password = '' }, n) => {
      using client = await connectEngine({
        address: { host: '127.0.0.1', port },
        login: { username: 'default', password },
        connectTimeoutMs: 20_000,
        commandTimeoutMs: 20_000,
      })
      for (let key = 0; key < 100; key += 1) await client.call('SET', `key-${key}`, key)
      // The first is a primary, the last a replica.
      for (const shard of [shards[0] ?? 0, shards.at(-1) ?? 0]) {
        const spec = specOf(fairlead.home, shard)
        const tls = spec.tls
        if (tls === null) throw new Error(`shard ${shard} speaks plain`)
        for (const at of [spec.port + 10_000, tls.port]) {
          expect((await shake(at)).answer, `${builds[n]} at ${at}, without a certificate`).toBe('refused')
          const other = pairs[(n + 1) % pairs.length]
          expect((await shake(at, other)).answer, `${builds[n]}, that of another database`).toBe('refused')
          expect((await shake(at, tls.certificate)).answer, `${builds[n]} at ${at}`).toBe('taken')
        }
        for (const name of ['shards-ca.pem', 'shards-cert.pem', 'shards-key.pem'])
          expect(statSync(file(fairlead, shard, name)).mode & 0o777).toBe(0o600)
        using admin = await asAdmin(fairlead, shard)
        const { role, primary, link } = readReplication(await admin.info('replication'))
        if (role === 'replica') expect(link).toBe('up')
        const plain = shards.map((id) => specOf(fairlead.home, id).port)
        if (role === 'replica') expect(plain).not.toContain(primary?.port)
      }
      using stranger = await startStrangeEngine(ports.from + n)
      await stranger.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
      await stranger.call('CLUSTER', 'SET-CONFIG-EPOCH', 100_000)
      await stranger.call('CLUSTER', 'MEET', '127.0.0.1', specOf(fairlead.home, shards[0] ?? 0).port)
      const own = String(await stranger.call('CLUSTER', 'MYID'))
      // An introduction that failed is given up after the node timeout.
      await until(
        'the stranger has given up',
        async () => {
          const nodes = readClusterNodes(String(await stranger.call('CLUSTER', 'NODES')))
          return nodes.every(({ id }) => id === own)
        },
        LONG,
      )
      for (const shard of shards) {
        using admin = await asAdmin(fairlead, shard)
        const nodes = readClusterNodes(String(await admin.call('CLUSTER', 'NODES')))
        expect(nodes.map(({ id }) => id)).not.toContain(own)
        expect(nodes).toHaveLength(shards.length)
      }
      for (let key = 0; key < 100; key += 1) expect(await client.call('GET', `key-${key}`)).toBe(String(key))
    }),
  )
})

test('a sharded database whose shards speak without TLS to each other stays so through upgrades, on a server that creates other databases with TLS', async () => {
  await using fairlead = await startFairlead({ env: { FAIRLEAD_SHARD_TLS: 'off' } })
  const { uid, shard_list: before } = await create(fairlead, build('valkey', '8.0'), 2)
  await fairlead.server.end('SIGTERM')
  await fairlead.server.start({ FAIRLEAD_SHARD_TLS: 'on' })
  const body = { engine_version: build('valkey', '8.1') }
  const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  const { shard_list: after } = await fairlead.api.getDatabase({ params: { uid } })
  expect(after.filter((shard) => !before.includes(shard)).length).toBeGreaterThan(0)
  for (const shard of after) expect(specOf(fairlead.home, shard).tls).toBeNull()
})
