import { readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { ShardSpec } from '@fairlead/api'
import { expect, test } from 'vitest'
import { engineConfig, userList } from '../../../src/engine/engine-config.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const paths = {
  data: '/d',
  acl: '/a',
  modulePath: (sha256: string) => `/m/${sha256}.so`,
  certificate: { ca: '/ca', cert: '/cert', key: '/key' },
}

// invariant: A user of a database does not administer its engine.
test.for(engines.map(({ flavour, version }) => ({ flavour, version })))(
  'the user of the database may do everything but administer: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build })
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.becomes('a-1', { state: 'running' })
    using user = await connectAs('default', spec)

    const forbidden = [
      'CONFIG GET *',
      'SHUTDOWN NOSAVE',
      'REPLICAOF NO ONE',
      'CLIENT PAUSE 1',
      'CLIENT KILL TYPE normal',
      'ACL LIST',
      'ACL SETUSER x on',
      'DEBUG SLEEP 0',
      'MODULE LIST',
      'SAVE',
      'MONITOR',
      'PSYNC ? -1',
      'FAILOVER',
      // Commands that reach beyond the database, although engines do not count them as administrative.
      'MIGRATE 127.0.0.1 1 key 0 10',
      'RESTORE-ASKING key 0 x',
      'SCRIPT DEBUG SYNC',
      'SCRIPT DEBUG NO',
      'CLIENT LIST',
      'CLUSTER FLUSHSLOT 1',
    ]
    for (const line of forbidden) {
      const [command = '', ...args] = line.split(' ')
      await expect(user.call(command, ...args), line).rejects.toThrow(
        /NOPERM|command not allowed|unknown (sub)?command/i,
      )
    }
    const allowed = [
      'SET key value',
      'GET key',
      'KEYS *',
      'INFO',
      'EVAL return(1) 0',
      'SCRIPT LOAD return(1)',
      'SCRIPT EXISTS x',
      'SCRIPT FLUSH',
      'MULTI',
      'EXEC',
      'CLIENT SETNAME me',
      'PUBLISH channel message',
      'ACL WHOAMI',
      'FLUSHALL',
    ]
    for (const line of allowed) {
      const [command = '', ...args] = line.split(' ')
      await user.call(command, ...args)
    }
    expect(await subscribe(spec)).toContain('subscribe')
    const script = "return redis.call('MIGRATE', '127.0.0.1', '1', 'key', '0', '10')"
    await expect(user.call('EVAL', script, 0)).rejects.toThrow(/permission|can't run this command/i)
  },
)

test('INFO tells the user of a database where its engine and its configuration are, and with that the user reads nothing', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.becomes('a-1', { state: 'running' })
  using user = await connectAs('default', spec)

  const info = String(await user.call('INFO', 'everything'))
  const [, file = ''] = /^config_file:(.+)\r$/m.exec(info) ?? []
  expect(await readFile(file, 'utf8')).toContain(spec.adminPassword)
  expect(info).not.toContain(spec.adminPassword)
  expect(info).not.toContain(spec.userPassword)
  // For other users of the machine, the file is closed by itself, also where its folder is open by mistake.
  expect((await stat(file)).mode & 0o077).toBe(0)
  for (const script of [
    'return dofile(ARGV[1])',
    'return loadfile(ARGV[1])()',
    'return io.open(ARGV[1]):read(1)',
    'return require(ARGV[1])',
    "return redis.call('CONFIG', 'GET', 'masterauth')",
    "return redis.call('MODULE', 'LOAD', ARGV[1])",
    "return redis.call('CONFIG', 'SET', 'dir', ARGV[1])",
  ])
    await expect(user.call('EVAL', script, '0', file), script).rejects.toThrow()
  for (const line of [
    'CONFIG GET dir',
    'CONFIG REWRITE',
    `MODULE LOAD ${file}`,
    `CONFIG SET dir ${file}`,
    'DEBUG RELOAD',
  ])
    await expect(user.call(...(line.split(' ') as [string])), line).rejects.toThrow(
      /NOPERM|not allowed|unknown/i,
    )
})

test('values with quotes, backslashes and line ends arrive at the engine as they are', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const nasty = 'a "b" \\x41 \\ \n shutdown-timeout 77 \t # é 日本'
  const spec = await makeSpec({ adminPassword: nasty })
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.becomes('a-1', { state: 'running' })
  using admin = await connectAs('fairlead', spec)
  expect(await admin.call('CONFIG', 'GET', 'masterauth')).toEqual(['masterauth', nasty])
  expect(await admin.call('CONFIG', 'GET', 'shutdown-timeout')).toEqual(['shutdown-timeout', '10'])
  const conf = await readFile(join(home.path, 'shards', 'a-1', 'engine.conf'), 'utf8')
  expect(conf.split('\n').filter((line) => line.includes('shutdown'))).toHaveLength(1)
})

test('a configuration says what the spec says', async () => {
  const spec = await makeSpec({
    persistence: 'snapshot',
    snapshots: [
      { secs: 900, writes: 1 },
      { secs: 60, writes: 1000 },
    ],
    memoryBytes: 1000,
    evictionPolicy: 'allkeys-lru',
    replicaOf: { host: '127.0.0.1', port: 7001 },
    aofFsync: 'always',
  })
  const lines = engineConfig(spec, paths, false).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'bind "127.0.0.1"',
      `port ${spec.port}`,
      'save ""',
      'save 900 1',
      'save 60 1000',
      'maxmemory 1000',
      'maxmemory-policy "allkeys-lru"',
      'replicaof "127.0.0.1" 7001',
      'appendonly "no"',
      'appendfsync "always"',
      'repl-backlog-ttl 0',
    ]),
  )
})

test('outside of cluster mode a replica follows over TLS if both can, and the configuration names no bus', async () => {
  const tls = { port: 7_002, certificate: { ca: 'a', cert: 'b', key: 'c' } }
  const primary = { host: '127.0.0.1', port: 7_001 }
  const lines = async (spec: Partial<ShardSpec>) =>
    engineConfig(await makeSpec({ tls, ...spec }), paths, false).match(
      /^(replicaof|tls-rep|tls-clu|cluster-p).*$/gm,
    )
  const over = { ...primary, tlsPort: 7_003 }
  expect(await lines({ replicaOf: over })).toEqual(['replicaof "127.0.0.1" 7003', 'tls-replication "yes"'])
  // One of the two shards is older.
  expect(await lines({ replicaOf: primary })).toEqual(['replicaof "127.0.0.1" 7001', 'tls-replication "no"'])
  expect(await lines({ replicaOf: over, tls: null })).toEqual(['replicaof "127.0.0.1" 7001'])
})

test('the list of users has the syntax of the build', async () => {
  const users = async (version: string) =>
    userList({ ...(await makeSpec()), build: { flavour: 'redis', version } })
  expect(await users('6.0.16')).not.toContain('&*')
  expect(await users('6.0.16')).toContain('+client|setname')
  expect(await users('6.2.1')).toContain('&*')
  expect(await users('7.0.15')).toMatch(
    /^user default on #[0-9a-f]{64} ~\* &\* \+@all -@admin -migrate -restore-asking -script\|debug$/m,
  )
  expect(await users('6.2.1')).toContain('-script +script|load')
})

test('in cluster mode the user of an old redis may ask for the slot map', async () => {
  const asked = '+cluster|slots +cluster|nodes +cluster|keyslot +cluster|info +cluster|myid'
  const users = async (version: string, cluster: boolean) =>
    userList({ ...(await makeSpec({ cluster })), build: { flavour: 'redis', version } })
  expect(await users('6.0.16', true)).toMatch(/^user default .* -@admin .*\+client.*countkeysinslot$/m)
  expect(await users('6.2.1', true)).toContain(asked)
  expect(await users('6.2.1', false)).not.toContain('cluster')
  expect(await users('7.0.15', true)).not.toContain('cluster')
})

test('data of other flavours is read if the build can, and only if the spec asks for it', async () => {
  const lines = async (flavour: string, version: string, rdbVersionCheck: 'strict' | 'relaxed') => {
    const spec = { ...(await makeSpec()), build: { flavour, version }, rdbVersionCheck }
    return engineConfig(spec, paths, false).match(/^rdb-version-check .*$/gm)
  }
  expect(await lines('valkey', '9.0.0', 'relaxed')).toEqual(['rdb-version-check "relaxed"'])
  expect(await lines('valkey', '10.1.0', 'relaxed')).toEqual(['rdb-version-check "relaxed"'])
  expect(await lines('valkey', '9.0.0', 'strict')).toBeNull()
  expect(await lines('valkey', '8.1.1', 'relaxed')).toBeNull()
  expect(await lines('redis', '9.0.0', 'relaxed')).toBeNull()
})

/** By hand: the connection of @fairlead/engine is one for commands that have one answer. */
async function subscribe({ host, port, userPassword }: ShardSpec): Promise<string> {
  const socket = connect({ host, port })
  socket.write(`AUTH ${userPassword}\r\nSUBSCRIBE channel\r\n`)
  let answer = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    answer += part
  })
  await until(() => answer.split('\r\n').length > 4 || answer.includes('NOPERM'))
  socket.destroy()
  return answer
}
