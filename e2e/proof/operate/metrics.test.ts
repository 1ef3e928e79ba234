import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectEngine } from '@fairlead/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { promtoolHere, runPromtool } from '../../../proof/promtool.ts'
import { pidOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const monitoring = join(import.meta.dirname, '../../../monitoring')
const read = (file: string) => readFileSync(join(monitoring, file), 'utf8')

let fairlead: Fairlead
let ports: Awaited<ReturnType<typeof claimPorts>>
/** After a replicated database was upgraded under a client, and both looked at. */
let text: string
let uid: number
/** Handovers in which clients waited, by their certificates. */
let waits: number

beforeAll(async () => {
  ports = await claimPorts()
  fairlead = await startFairlead({ env: { FAIRLEAD_HTTPS_PORT: String(ports.to) } })
  const body = { name: 'watched', memory_size: 100_000_000, replication: true }
  const made = await fairlead.api.createDatabase({ body: { ...body, engine_version: build('redis', '7.0') } })
  uid = made.uid
  await fairlead.untilEnded(made.action_uid)
  const { port, authentication_engine_pass: password } = await fairlead.api.getDatabase({ params: { uid } })
  using client = await connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'default', password: password ?? '' },
    connectTimeoutMs: 60_000,
    commandTimeoutMs: 60_000,
  })
  const write = async () => {
    for (let n = 0; n < 100; n += 1) await client.call('SET', `key-${n}`, 'x')
  }
  await write()
  const upgrade = { engine_version: build('valkey', '8.1') }
  const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body: upgrade })
  let isOver = false
  const ended = fairlead.untilEnded(action_uid).finally(() => {
    isOver = true
  })
  while (!isOver) await write()
  waits = (await ended).certificates.filter((one) => (one.clients_held ?? 0) > 0).length
  const isWhole = (scrape: string) =>
    scrape.includes(`fairlead_endpoint_requests_total{database="${uid}"}`) &&
    scrape.split('\n').filter((line) => line.startsWith('fairlead_shard_up') && line.endsWith(' 1'))
      .length === 2 &&
    / [1-9]\d+$/m.test(scrape.split('fairlead_database_memory_used_bytes{')[1] ?? '')
  text = await until('both shards and the endpoint are measured', async () => {
    const scrape = await scrapeNow()
    return isWhole(scrape) && scrape
  })
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  await ports[Symbol.asyncDispose]()
})

async function scrapeNow(): Promise<string> {
  // A server of root has a user, and a folder, of its own.
  const places = ['server/own/metrics.token', 'metrics.token'].map((name) => join(fairlead.home, name))
  const token = readFileSync(places.find((file) => existsSync(file)) ?? '', 'utf8').trim()
  const answer = await fetch(new URL('/metrics', fairlead.url), {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(answer.status).toBe(200)
  return await answer.text()
}

/** The value of a series; undefined: there is none. */
function sampleOf(series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

describe('a scrape after an upgrade', () => {
  test('counts the handover with its write stop, and the actions', () => {
    expect(sampleOf('fairlead_handovers_total{outcome="moved"}')).toBeGreaterThanOrEqual(1)
    expect(sampleOf('fairlead_handover_write_stop_seconds_count')).toBeGreaterThanOrEqual(1)
    expect(sampleOf('fairlead_handover_held_seconds_count')).toBeGreaterThanOrEqual(1)
    expect(sampleOf('fairlead_handover_longest_wait_seconds_count')).toBe(waits)
    expect(sampleOf('fairlead_actions_ended_total{kind="create",outcome="done"}')).toBe(1)
    expect(sampleOf('fairlead_actions_ended_total{kind="upgrade",outcome="done"}')).toBe(1)
    expect(sampleOf('fairlead_actions_active{kind="upgrade",status="running"}')).toBeUndefined()
  })

  test('has the requests of clients and of the API, and logins', () => {
    expect(sampleOf(`fairlead_endpoint_requests_total{database="${uid}"}`)).toBeGreaterThanOrEqual(100)
    expect(sampleOf('fairlead_api_requests_total{operation="upgradeDatabase",status_class="2xx"}')).toBe(1)
    expect(sampleOf('fairlead_logins_total{outcome="right"}')).toBeGreaterThanOrEqual(1)
  })

  test('says which shard is the primary, and that both are up', () => {
    const primaries = text.split('\n').filter((line) => /^fairlead_shard_is_primary\{.* 1$/.test(line))
    expect(primaries.length).toBe(1)
    expect(sampleOf(`fairlead_database_memory_limit_bytes{database="${uid}"}`)).toBe(100_000_000)
    expect(text).toMatch(/fairlead_database_info\{.*name="watched",engine="valkey",version="8\.1/)
  })

  test('has no series of a client, and for a database only the series in the table', () => {
    const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name]) => name))
    expect(
      [...labels].filter((name) => ['client', 'address', 'user', 'ip', 'key'].includes(name ?? '')),
    ).toEqual([])
  })
})

test('a shard whose engine hangs is not up, and one whose engine was killed is up again when it answers', async () => {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  const replica = Number(shards.find(({ role }) => role === 'slave')?.uid)
  const seriesOf = (shard: number) => `fairlead_shard_up{database="${uid}",shard="${shard}"}`
  let pid = await pidOf(fairlead, replica)
  /** The agent replaces a process that hangs, or that has died: then the next one is meant. */
  const signal = async (name: NodeJS.Signals) => {
    try {
      process.kill(pid, name)
    } catch {
      pid = await pidOf(fairlead, replica).catch(() => pid)
    }
  }
  await until(
    'a scrape says that it hangs',
    async () => {
      await signal('SIGSTOP')
      return (await scrapeNow()).includes(`${seriesOf(replica)} 0\n`)
    },
    { withinMs: 120_000 },
  )
  await signal('SIGKILL')
  await until(
    'a scrape says that it answers',
    async () => (await scrapeNow()).includes(`${seriesOf(replica)} 1\n`),
    { withinMs: 120_000 },
  )
})

describe.skipIf(promtoolHere() === null)('promtool', () => {
  test('accepts a scrape', async () => {
    const { code, said } = await runPromtool(['check', 'metrics'], { input: text })
    expect({ code, said }).toEqual({ code: 0, said: '' })
  })

  test('accepts the rules, and they fire under the conditions that they name', async () => {
    expect(await runPromtool(['check', 'rules', 'alerts.yml'], { folder: monitoring })).toMatchObject({
      code: 0,
    })
    const tests = await runPromtool(['test', 'rules', 'alerts.test.yml'], { folder: monitoring })
    expect(tests, tests.said).toMatchObject({ code: 0 })
    const config = await runPromtool(['check', 'config', '--syntax-only', 'prometheus.yml'], {
      folder: monitoring,
    })
    expect(config, config.said).toMatchObject({ code: 0 })
  })

  test('accepts each expression of the dashboard', async () => {
    const rules = expressionsOf(read('dashboard.json')).map((expr, n) => ({ record: `panel:${n}`, expr }))
    const file = join(fairlead.home, 'dashboard-rules.json')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    const { code, said } = await runPromtool(['check', 'rules', file])
    expect(code, said).toBe(0)
    expect(rules.length).toBeGreaterThan(30)
  })
})

/** The expression with the variables of Grafana filled in. */
function expressionsOf(dashboard: string): readonly string[] {
  const { panels } = JSON.parse(dashboard) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
  }
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', 'fairlead').replaceAll('$database', '.*'),
    )
}

describe('the files of monitoring/', () => {
  const used = (source: string) => new Set(source.match(/\b(?:fairlead|process)_[a-z_]+/g))
  /** Metrics without a series while nothing is wrong. */
  const rare = ['fairlead_database_needs_person', 'fairlead_actions_waiting', 'fairlead_actions_active']

  test.each(['dashboard.json', 'alerts.yml'])('%s uses only metrics that a scrape has', (file) => {
    const names = [...used(read(file))].filter((name) => !name.startsWith('fairlead_x'))
    expect(names.length).toBeGreaterThan(10)
    const missing = names.filter(
      (name) => !new RegExp(`^${name}[ {]`, 'm').test(text) && !rare.includes(name),
    )
    expect(missing).toEqual([])
  })
})
