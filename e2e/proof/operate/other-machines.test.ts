import { once } from 'node:events'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { commandLine } from '../../../proof/run-command-line.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { connectOtherMachine } from '../../support/other-machine.ts'

const machine = connectOtherMachine()
const addresses = typeof machine === 'string' ? { ipv4: '127.0.0.2', ipv6: '::1' } : machine.addresses
let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead({
    env: {
      FAIRLEAD_ENDPOINT_ADDRESS: `${addresses.ipv4},${addresses.ipv6}`,
      FAIRLEAD_ENDPOINT_SUFFIX: 'db.example.net',
    },
  })
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  if (typeof machine !== 'string') machine[Symbol.dispose]()
})

const run = (...args: string[]) =>
  commandLine({ FAIRLEAD_HOME: fairlead.home, FAIRLEAD_ENGINES: enginesFolder() }).run(args)
const resultsOf = (printed: string): Record<string, string> =>
  Object.fromEntries(
    (JSON.parse(printed) as { check: string; result: string }[]).map(({ check, result }) => [check, result]),
  )

/** Connections of startWork. */
const CONNECTIONS = 12
const begin = { memory_size: 0, engine_version: build('redis', '7.0'), tls_mode: 'enabled' } as const

test.for([
  ['IPv4', 'ioredis'],
  ['IPv6', 'node-redis'],
] as const)(
  'clients on another machine connect over TLS by %s and go through an upgrade: no error, no reconnect, nothing lost',
  async ([kind, library], context) => {
    if (typeof machine === 'string') return context.skip(machine)
    const { api } = fairlead
    const { uid, port, password, endpoints } = await createDatabase(fairlead, { ...begin, name: library })
    const name = `redis-${port}.db.example.net`
    const { ipv4, ipv6 } = addresses
    expect(endpoints).toMatchObject([
      { uid: `${uid}:1`, dns_name: name, port, addr: [ipv4, ipv6], addr_type: 'external' },
      { uid: `${uid}:2`, dns_name: '127.0.0.1', port, addr: ['127.0.0.1'], addr_type: 'internal' },
    ])
    const { ca_cert: ca = '' } = await api.getCertificates({})
    const host = kind === 'IPv4' ? ipv4 : ipv6
    await using work = await machine.startWork(library, { host, port, password, tls: { ca } })
    const further = async () => {
      const before = await work.answers()
      await until('clients go on', async () => (await work.answers()) > before + 1_000)
    }
    await further()
    const { action_uid } = await api.upgradeDatabase({
      params: { uid },
      body: { engine_version: build('valkey', '8.1') },
    })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
    await further()
    expect(await work.stop()).toMatchObject({ wrong: [], reconnects: 0, connections: CONNECTIONS })

    // By its name, for the certificate: no DNS answers it here.
    const named = connect({ host, port, ca, servername: name })
    await once(named, 'secureConnect')
    named.destroy()
  },
)

test('another address at the next start closes no client of an unchanged one, and one that is not there is named', async (context) => {
  if (typeof machine === 'string') return context.skip(machine)
  const { api, server } = fairlead
  const { uid, port, password } = await createDatabase(fairlead, { ...begin, name: 'moves' })
  const { ca_cert: ca = '' } = await api.getCertificates({})
  const login = { host: addresses.ipv4, port, password, tls: { ca } }
  await using work = await machine.startWork('ioredis', login)
  await until('clients are at work', async () => (await work.answers()) > 1_000)
  await server.end('SIGTERM')
  await server.start({ FAIRLEAD_ENDPOINT_ADDRESS: `${addresses.ipv4},203.0.113.9` })
  const missing = async () => (await api.getEndpointStats({ params: { uid } })).missing_addr
  await until('the address is missed', async () => (await missing()).length > 0)
  expect(await missing()).toMatchObject([{ addr: '203.0.113.9' }])
  expect(await api.getNode({ params: { uid: 1 } })).toMatchObject({
    external_addr: [addresses.ipv4, '203.0.113.9'],
    missing_addr: ['203.0.113.9'],
  })
  const { needs_you } = JSON.parse((await run('status', '-o', 'json')).stdout)
  expect(needs_you).toMatchObject([{ name: 'node 1', why: expect.stringContaining('203.0.113.9') }])
  const doctor = await run('doctor', '-o', 'json')
  expect(doctor.code).toBe(1)
  expect(resultsOf(doctor.stdout)).toMatchObject({ endpoint_addresses: 'bad' })
  const before = await work.answers()
  await until('clients go on', async () => (await work.answers()) > before + 1_000)
  expect(await work.stop()).toMatchObject({ wrong: [], reconnects: 0, connections: CONNECTIONS })
})

test('a database without TLS that other machines reach is warned of at its creation, and by doctor', async (context) => {
  if (typeof machine === 'string') return context.skip(machine)
  const reached = resultsOf((await run('doctor', '-o', 'json')).stdout)
  expect(reached).not.toHaveProperty('endpoint_tls')
  const create = (name: string, ...more: readonly string[]) =>
    run('databases', 'create', name, '--memory', '0', '-o', 'name', ...more)
  expect(await create('private', '--tls')).toMatchObject({ code: 0, stderr: '' })
  expect(await create('open')).toMatchObject({ code: 0, stderr: expect.stringMatching(/./) })
  const found = resultsOf((await run('doctor', '-o', 'json')).stdout)
  expect(found).toMatchObject({ endpoint_tls: 'warn' })
})
