import type { Changes } from '@fairlead/api'
import { expect, test } from 'vitest'
import { watchEngine } from '../../../src/engine/watch-engine.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

test('each look asks an engine for its state, every 5 s and on a new connection also for memory and process, every 10 s for its counters', async () => {
  let now = 0
  const asked: string[] = []
  const of = { replication: 'role:master\r\n', memory: 'maxmemory:0\r\n', server: 'run_id:one\r\n' }
  const probe = {
    opened: 1,
    call: async () => '',
    async callAgain([, ...sections]: readonly string[]) {
      asked.push(sections.join(' '))
      return Object.entries(of)
        .flatMap(([section, text]) => (sections.includes(section) ? text : []))
        .join('')
    },
  }
  const watch = watchEngine(() => now)
  const spec = await makeSpec()
  const look = async () => {
    const before = watch.state()
    asked.length = 0
    expect(await watch.look(probe, { startedAt: 1, spec })).toBe(true)
    expect(watch.changed).toBe(watch.state() !== before)
    return { asked: [...asked], changed: watch.changed }
  }
  const often = 'clients persistence replication'
  const counted = 'stats keyspace cpu commandstats'
  expect(await look()).toEqual({ asked: [often, `server memory ${counted}`], changed: true })
  now = 4_999
  of.memory = 'maxmemory:1\r\n'
  expect(await look()).toEqual({ asked: [often], changed: false })
  of.replication = 'role:slave\r\n'
  expect(await look()).toEqual({ asked: [often], changed: true })
  now = 5_000
  expect(await look()).toEqual({ asked: [often, 'server memory'], changed: true })
  probe.opened = 2
  of.server = 'run_id:two\r\n'
  expect(await look()).toEqual({ asked: [often, 'server memory'], changed: true })
  expect(await look()).toEqual({ asked: [often], changed: false })
  now = 10_000
  expect(await look()).toEqual({ asked: [often, `server memory ${counted}`], changed: false })
})

test('the offset of a dead primary is known until the next process reports its own', async () => {
  const spec = await makeSpec()
  const watch = watchEngine()
  const said = 'role:master\r\nloading:0\r\nmaster_repl_offset:70\r\n'
  const says = async () => said
  await watch.look({ opened: 1, call: says, callAgain: says }, { startedAt: 1, spec })
  expect(watch.stream()).toMatchObject({ offset: 70 })
  const fails = () => Promise.reject(new Error('it does not answer yet'))
  expect(await watch.look({ opened: 2, call: fails, callAgain: fails }, { startedAt: 2, spec })).toBe(false)
  expect(watch.stream()).toMatchObject({ offset: 70 })
})

// invariant: An idle engine causes no change that the agent reports.
test('an agent reports the changes of each engine, and nothing for engines without one', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const specs = await Promise.all(
    engines.map(
      async (engine, n) => [`s${n + 1}`, await makeSpec({ cluster: n % 2 === 1 }, engine)] as const,
    ),
  )
  for (const [id, body] of specs) await home.client.putShard({ params: { id }, body })
  for (const [id] of specs) await home.becomes(id, { state: 'running' })

  let heard: Changes = await home.client.awaitChanges({ body: { boot: '', after: 0, waitMs: 0 } })
  const next = async (waitMs: number) => {
    heard = await home.client.awaitChanges({ body: { boot: heard.boot, after: heard.seq, waitMs } })
    return heard
  }
  // A process that has just begun still changes. Memory, clients and counters change all the time.
  await until(async () => (await next(2_500)).shards.length === 0)
  expect(heard).toMatchObject({ all: false, gone: [], offsets: [] })

  const touched = new Set<string>()
  for (const [id, spec] of specs) {
    touched.add(id)
    const told = async (what: () => Promise<unknown>) => {
      await what()
      // A change may take a while: a cluster counts its slots, a replica looks for its primary.
      await until(async () => (await next(9_000)).shards.some((shard) => shard.id === id))
      expect(heard.shards.filter((shard) => !touched.has(shard.id))).toEqual([])
    }
    using admin = await connectAs('fairlead', spec)
    await told(() => admin.call('CONFIG', 'SET', 'maxmemory', 50_000_000))
    if (spec.cluster) await told(() => admin.call('CLUSTER', 'ADDSLOTS', 7))
    else await told(() => admin.call('REPLICAOF', '127.0.0.1', 1))
  }
})

test('the streams of primaries are reported after writes, and their last offset when one dies', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec({ onCrash: 'wait' })
  await home.client.putShard({ params: { id: 's1' }, body: spec })
  await home.becomes('s1', { state: 'running' })
  const { adminPassword, userPassword } = spec
  const replicaOf = { host: spec.host, port: spec.port }
  const replica = await makeSpec({ adminPassword, userPassword, replicaOf })
  await home.client.putShard({ params: { id: 's2' }, body: replica })
  using admin = await connectAs('fairlead', spec)
  const replication = async () => admin.info('replication')
  await until(async () => (await replication()).includes('state=online'))

  const told = async () =>
    (await home.client.awaitChanges({ body: { boot: '', after: 0, waitMs: 0 } })).offsets
  const offset = async () => Number(/master_repl_offset:(\d+)/.exec(await replication())?.[1])
  await until(async () => {
    await admin.call('SET', 'key', 'value')
    return (await told()).length > 0
  })
  const last = await offset()
  await until(async () => (await told()).some((seen) => seen.offset >= last))
  const { pid } = await home.becomes('s1', { state: 'running' })
  process.kill(pid ?? 0, 'SIGKILL')
  await home.becomes('s1', { state: 'exited' })
  expect(await told()).toMatchObject([{ id: 's1', offset: expect.any(Number) }])
})
