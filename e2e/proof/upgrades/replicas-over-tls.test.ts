import { connectEngine, readReplication } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { buildsOfEachLine, hasWayBack, pairsHere, usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin, pidOf, specOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { type LoadedUpgrade, upgradeUnderLoad } from '../../../proof/upgrade-under-load.ts'
import { canBeStranger, startStranger } from '../../support/start-stranger.ts'

const builds = buildsOfEachLine()
const LONG = { withinMs: 60_000 }
const KEYS = 100

async function create({ api, untilEnded }: Fairlead, engine_version: string, replication = true, n = 0) {
  const name = `${engine_version.replaceAll('.', '-')}-${n}`
  const { uid, action_uid } = await api.createDatabase({
    body: { name, memory_size: 0, replication, engine_version },
  })
  expect((await untilEnded(action_uid)).status).toBe('completed')
  return api.getDatabase({ params: { uid } })
}

type Created = Awaited<ReturnType<typeof create>>

/** A client of the endpoint, which waits this long for each answer. */
function connectTo({ port = 0, authentication_engine_pass: password = '' }: Created, withinMs: number) {
  const login = { username: 'default', password }
  const bounds = { connectTimeoutMs: withinMs, commandTimeoutMs: withinMs }
  return connectEngine({ address: { host: '127.0.0.1', port }, login, ...bounds })
}

async function fill(database: Created) {
  using client = await connectTo(database, LONG.withinMs)
  for (let key = 0; key < KEYS; key += 1) await client.call('SET', `key-${key}`, key)
}

/** Asked repeatedly. */
async function countKeys(database: Created) {
  using client = await connectTo(database, 2_000)
  return await client.call('DBSIZE')
}

async function keysOf(fairlead: Fairlead, shard: number) {
  using admin = await asAdmin(fairlead, shard)
  return await admin.call('DBSIZE')
}

/** The port at which a shard follows another one, and whether it is linked. */
async function linkOf(fairlead: Fairlead, shard: number) {
  using admin = await asAdmin(fairlead, shard)
  const { role, primary, link } = readReplication(await admin.info('replication'))
  return { role, link, port: primary?.port }
}

// invariant: A process at the port of a dead primary gets no password and no replica.
test.runIf(canBeStranger)(
  'a process of another user that takes the ports of a dead primary gets no password from its replicas, and they do not take its data',
  async () => {
    await using fairlead = await startFairlead()
    const databases = await Promise.all(builds.map((engine) => create(fairlead, engine)))
    await Promise.all(databases.map(fill))
    const groups = databases.map(({ shard_list: [primary = 0, replica = 0] }) => ({ primary, replica }))
    const portsOf = (shard: number) => {
      const { port, tls } = specOf(fairlead.home, shard)
      return tls === null ? [port] : [port, tls.port]
    }
    for (const { primary, replica } of groups) {
      // After its first sync an engine that is linked gets nothing for up to a second.
      await until('it has all data', async () => (await keysOf(fairlead, replica)) === KEYS, LONG)
      expect(portsOf(primary)).toHaveLength(2)
    }
    {
      const taken = groups.flatMap(({ primary }) => portsOf(primary))
      await using stranger = startStranger(standIn(taken))
      expect(await stranger.says()).toBe('ready')
      const pids = await Promise.all(groups.map(({ primary }) => pidOf(fairlead, primary)))
      // No agent starts it again, and no server promotes a replica: both are stopped meanwhile.
      using _ = stopped([fairlead.server.pid, fairlead.agent.pid])
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      const heard = () => stranger.rest().map((line) => JSON.parse(line) as { port: number; text: string })
      // Replicas try once a second; a TLS handshake begins with the byte 22.
      for (const { primary } of groups) {
        const [, tls] = portsOf(primary)
        await until(
          'its replica has asked twice',
          async () =>
            heard().filter(({ port, text }) => port === tls && text.startsWith('\u0016')).length > 1,
          LONG,
        )
      }
      for (const { text } of heard()) expect(text).not.toMatch(/AUTH|PING|REPLCONF|PSYNC/i)
      for (const { replica } of groups) {
        expect(await keysOf(fairlead, replica)).toBe(KEYS)
      }
    }
    for (const database of databases)
      await until(
        'it serves again, with all data',
        async () => (await countKeys(database).catch(() => 0)) === KEYS,
        LONG,
      )
  },
)

/** Each pair once; the first one again if there are fewer pairs. */
function pairOf(n: number) {
  return pairsHere()[n] ?? usualPair()
}

const ways: readonly (Pick<LoadedUpgrade, 'kind'> & Partial<LoadedUpgrade>)[] = [
  { kind: 'set' },
  { kind: 'incr', afterwards: hasWayBack(pairOf(1)) ? 'roll back' : 'ask in vain' },
  { kind: 'incr', preserveRoles: true },
  { kind: 'set', replication: false },
]

test('an older database is moved to TLS by its next upgrade, shard by shard, and rolled back, without losing a write', {
  timeout: 180_000,
}, async () => {
  await using fairlead = await startFairlead({ env: { FAIRLEAD_SHARD_TLS: 'off' } })
  const upgrades = ways.map((way, n) => ({ ...way, ...pairOf(n) }))
  const databases = await Promise.all(
    upgrades.map(({ from = '', replication }, n) => create(fairlead, from, replication, n)),
  )
  for (const shard of databases.flatMap(({ shard_list }) => shard_list))
    expect(specOf(fairlead.home, shard).tls).toBeNull()
  await fairlead.server.end('SIGTERM')
  await fairlead.server.start({ FAIRLEAD_SHARD_TLS: 'on' })
  await Promise.all(
    upgrades.map(async ({ from, to, ...way }, n) => {
      const load = { warmUp: 2_000, perSecond: 1_000, connections: 6 }
      const inspect = async (uid: number) => {
        const { shard_list: shards } = await fairlead.api.getDatabase({ params: { uid } })
        const specs = shards.map((shard) => specOf(fairlead.home, shard))
        if (way.afterwards !== 'roll back')
          for (const { tls } of specs) expect(tls, JSON.stringify({ way, specs })).not.toBeNull()
        const ends = specs.flatMap(({ port, tls }) => (tls === null ? [] : [port, tls.port]))
        for (const shard of shards) {
          const { role, link, port = 0 } = await linkOf(fairlead, shard)
          if (role === 'replica') expect(link).toBe('up')
          // The second of the two ports speaks TLS.
          if (role === 'replica' && way.afterwards !== 'roll back') expect(ends.indexOf(port) % 2).toBe(1)
        }
      }
      const { uid } = databases[n] ?? { uid: 0 }
      const proof = await upgradeUnderLoad(fairlead, { ...way, ...load, from, to, uid, inspect })
      expect(proof.examples).toEqual([])
      const { lost, duplicated } = proof
      expect({ lost, duplicated }).toEqual({ lost: 0, duplicated: 0 })
      for (const { full_syncs } of proof.certificates) expect(full_syncs).toBe(0)
      expect(proof.action.warnings).toEqual([])
    }),
  )
})

/** Stops processes until this is disposed of. */
function stopped(pids: readonly number[]): Disposable {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  return {
    [Symbol.dispose]() {
      for (const pid of pids) process.kill(pid, 'SIGCONT')
    },
  }
}

/**
 * Listens at these ports as soon as they are free, prints what it receives, and answers like a primary with
 * an empty data set.
 */
const standIn = (ports: readonly number[]) => `import { createServer } from 'node:net'
const answer = (socket, text) => {
  if (/PSYNC|SYNC/i.test(text)) {
    const rdb = Buffer.concat([Buffer.from('REDIS0009\\xff', 'latin1'), Buffer.alloc(8)])
    socket.write('+FULLRESYNC ' + 'a'.repeat(40) + ' 1\\r\\n$' + rdb.length + '\\r\\n')
    socket.write(rdb)
  } else if (/PING/i.test(text)) socket.write('+PONG\\r\\n')
  else socket.write('+OK\\r\\n'.repeat(text.match(/AUTH|REPLCONF/gi)?.length ?? 1))
}
const take = (port) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1')
      console.log(JSON.stringify({ port, text }))
      answer(socket, text)
    })
  })
  server.once('error', () => setImmediate(take, port))
  server.listen({ port, host: '127.0.0.1' })
}
console.log('ready')
;${JSON.stringify(ports)}.forEach(take)
`
