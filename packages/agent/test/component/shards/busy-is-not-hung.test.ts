import { setTimeout as delay } from 'node:timers/promises'
import type { ShardSpec } from '@fairlead/api'
import { connectEngine, type EngineConnection } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

/** A process that starts on a busy machine is idle and silent for up to a second. */
const soon = { hungAfterMs: 3_000, primaryHungAfterMs: 1_600 }
/** Longer than a process may be silent here. */
const BUSY_MS = 4_000
/** Not long enough for an engine to say BUSY. */
const SCRIPT = ['EVAL', 'local x = 0 for n = 1, 3000000 do x = x + n end return x', '0']
const builds = [engines.at(0), engines.at(-1)].flatMap((one) => one ?? [])

// invariant: A silent process that works or waits for its disk is not ended.
test.for(builds)(
  'one long transaction ends no primary that is alone: $flavour $version',
  async ({ flavour, version }) => {
    await using home = await makeHome()
    await using _ = await home.start(soon)
    const { spec, pid } = await startShard(home, 'a-1', { build: { flavour, version } })
    using client = await connect(spec)
    await client.call('SET', 'only copy', 'is kept')
    const seen = { isBusy: false, forMs: 0 }
    const look = until(async () => {
      seen.isBusy ||= (await home.shard('a-1'))?.silence?.doing === 'works'
      return seen.isBusy
    })
    // The time of a piece of work is estimated from a smaller one: on a busy machine the estimate is
    // sometimes wrong.
    while (!seen.isBusy || seen.forMs < soon.primaryHungAfterMs) seen.forMs = await workFor(BUSY_MS, client)
    await look
    await home.becomes('a-1', { state: 'running', pid, crashes: 0, silence: null })
    expect(await client.call('GET', 'only copy')).toBe('is kept')
  },
)

test('one long transaction ends neither a replica nor a process that is to be replaced', async () => {
  await using home = await makeHome()
  await using _ = await home.start(soon)
  const { spec } = await startShard(home, 'a-1')
  const replica = await startShard(home, 'b-1', followerOf(spec))
  await until(() => isLinked(replica.spec))
  using reader = await connect(replica.spec)
  const isBusy = (id: string) => async () => (await home.shard(id))?.silence?.doing === 'works'
  // Where the machine was faster than estimated, the work was too short.
  while (!(await isSeenDuring(scriptsFor(BUSY_MS, reader), isBusy('b-1'))));
  await home.becomes('b-1', { state: 'running', pid: replica.pid, crashes: 0, silence: null })

  {
    using client = await connect(spec)
    await client.call('SET', 'a', '1')
  }
  let revision = spec.revision
  const isReplacedLater = async () => {
    const before = await home.becomes('a-1', { state: 'running', revision })
    using client = await connect(spec)
    // Not while that is measured: the process may be replaced between two transactions.
    const times = await timesFor(BUSY_MS, SCRIPT, client)
    return await isSeenDuring(inTransaction(times, SCRIPT, client), async () => {
      if (!(await isBusy('a-1')())) return false
      revision = `after ${revision}`
      await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision } })
      const now = await home.shard('a-1')
      return now?.pid === before.pid && now?.revision === before.revision
    })
  }
  while (!(await isReplacedLater()));
  await home.becomes('a-1', { state: 'running', revision, crashes: 0, beganAfterDeath: false })
  using after = await connectAs('default', spec)
  expect(await after.call('GET', 'a')).toBe('1')
})

// invariant: A silent process with the only copy of data is left to a person.
test('a stalled process without others and without data on its disk is left to a person, who may resume it', async () => {
  await using home = await makeHome()
  await using _ = await home.start(soon)
  const { spec, pid } = await startShard(home, 'a-1')
  using client = await connect(spec)
  await client.call('SET', 'only copy', 'is kept')
  process.kill(pid, 'SIGSTOP')
  await until(async () => (await home.shard('a-1'))?.why.includes('a person has to decide') ?? false)
  await delay(soon.primaryHungAfterMs)
  const told = await home.shard('a-1')
  expect(told).toMatchObject({ pid, crashes: 0, silence: { hung: true, doing: 'stopped', onDisk: false } })
  expect(told?.why).toContain('a person has to decide')
  process.kill(pid, 'SIGCONT')
  await home.becomes('a-1', { state: 'running', pid, crashes: 0, why: '', silence: null })
  expect(await client.call('GET', 'only copy')).toBe('is kept')
})

test('a stalled process without others, with its data on its disk, is killed after a while and loads its data', async () => {
  await using home = await makeHome()
  await using _ = await home.start(soon)
  const { spec, pid } = await startShard(home, 'a-1', { persistence: 'aof' })
  {
    using client = await connect(spec)
    await client.call('SET', 'saved', 'yes')
  }
  process.kill(pid, 'SIGSTOP')
  await home.becomes('a-1', { state: 'running', crashes: 1, silence: null })
  expect(home.logged()).toMatch(
    /while it did nothing, and was killed; it starts again with what is on its disk/,
  )
  using after = await connect(spec)
  expect(await after.call('GET', 'saved')).toBe('yes')
})

test('a stalled process with others in its group is left to the server, and that order is void once the process answers', async () => {
  await using home = await makeHome()
  await using _ = await home.start(soon)
  const { pid } = await startShard(home, 'a-1', { onCrash: 'wait' })
  const endIt = (startedAt: number | null | undefined) =>
    home.client.endShardProcess({ params: { id: 'a-1' }, body: { startedAt: startedAt ?? 0 } })
  const { startedAt } = await home.becomes('a-1', { state: 'running' })
  await expect(endIt(startedAt)).rejects.toThrow('answers, or has another process by now')
  process.kill(pid, 'SIGSTOP')
  await until(async () => (await home.shard('a-1'))?.why.includes('the server decides') ?? false)
  await expect(endIt((startedAt ?? 0) - 1)).rejects.toThrow('has another process by now')
  await endIt(startedAt)
  const exited = await home.becomes('a-1', { state: 'exited', crashes: 1 })
  expect(exited.why).toMatch(/and was killed, as the server ordered; waits until the server orders its start/)
})

test('a stalled replica is killed soon, and follows its primary again', async () => {
  await using home = await makeHome()
  await using _ = await home.start(soon)
  const { spec } = await startShard(home, 'a-1', { onCrash: 'wait' })
  const replica = await startShard(home, 'b-1', followerOf(spec))
  await until(() => isLinked(replica.spec))
  process.kill(replica.pid, 'SIGSTOP')
  await home.becomes('b-1', { state: 'running', crashes: 1, silence: null })
  await until(() => isLinked(replica.spec))
})

/** Answers whether something was so while work went on. Throws what the work throws. */
async function isSeenDuring(work: Promise<unknown>, look: () => Promise<boolean>): Promise<boolean> {
  const seen = { isSo: false, isOver: false }
  const over = work.finally(() => {
    seen.isOver = true
  })
  await Promise.all([
    over,
    until(async () => {
      const isSo = await look()
      seen.isSo ||= isSo && !seen.isOver
      return seen.isSo || seen.isOver
    }),
  ])
  return seen.isSo
}

function followerOf({ host, port, adminPassword }: ShardSpec): Partial<ShardSpec> {
  return { replicaOf: { host, port }, adminPassword }
}

async function startShard(home: TestHome, id: string, wanted: Partial<ShardSpec> = {}) {
  const spec = await makeSpec(wanted)
  await home.client.putShard({ params: { id }, body: spec })
  const { pid } = await home.becomes(id, { state: 'running' })
  return { spec, pid: pid ?? 0 }
}

/** Waits for its answers without a deadline. */
function connect(spec: ShardSpec): Promise<EngineConnection> {
  const login = { username: 'default', password: spec.userPassword }
  return connectEngine({ address: spec, login, commandTimeoutMs: 60_000 })
}

async function isLinked(spec: ShardSpec): Promise<boolean> {
  using admin = await connectAs('fairlead', spec)
  return (await admin.info('replication')).includes('master_link_status:up')
}

/** Keeps an engine in one transaction for about this long. Returns how long it was, in milliseconds. */
async function workFor(ms: number, client: EngineConnection): Promise<number> {
  for (let n = 0; n < 30; n += 1)
    await client.call('RPUSH', 'list', ...Array.from({ length: 10_000 }, () => 'x'))
  return repeatFor(ms, ['LPOS', 'list', 'absent'], client)
}

/** The same with scripts. */
function scriptsFor(ms: number, client: EngineConnection): Promise<number> {
  return repeatFor(ms, SCRIPT, client)
}

async function repeatFor(ms: number, command: readonly string[], client: EngineConnection) {
  return inTransaction(await timesFor(ms, command, client), command, client)
}

/** How often a command has to be repeated to take about this long. */
async function timesFor(ms: number, command: readonly string[], client: EngineConnection): Promise<number> {
  // The shortest of a few measurements: on a busy machine a slow one would make the work too short.
  const tries = []
  for (let n = 0; n < 5; n += 1) tries.push(await inTransaction(10, command, client))
  return Math.ceil((ms * 10) / Math.min(...tries))
}

async function inTransaction(
  times: number,
  [name = '', ...args]: readonly string[],
  client: EngineConnection,
) {
  await client.call('MULTI')
  for (let n = 0; n < times; n += 1) await client.call(name, ...args)
  const began = performance.now()
  await client.call('EXEC')
  return performance.now() - began
}
