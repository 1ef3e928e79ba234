import { expect, test } from 'vitest'
import { type Load, startLoad } from '../../src/start-load.ts'
import {
  type NamingServer,
  PASSWORD,
  startNamingServer,
  startTestEngine,
  type TestEngine,
  until,
  valkeyBuilds,
} from '../../src/test-engine.ts'
import { nowUnixMs } from '../../src/unix-clock.ts'

const builds = await valkeyBuilds()
const oldest = builds[0] ?? ''
const newest = builds.at(-1) ?? ''
const kinds = ['set', 'incr'] as const

test.each(kinds)('every acknowledged %s is read back, and the load reaches its pace', async (kind) => {
  await using engine = await startTestEngine(newest)
  await using naming = await startNamingServer(engine.address)
  await using load = await startOn(naming, { kind })
  await load.untilAcked(40_000)
  console.log(`${kind}: ${Math.round(load.perSecond())} writes/s`)
  expect(load.perSecond()).toBeGreaterThan(2_000)
  const report = await load.stop()
  expect(report).toMatchObject({ refused: 0, unknown: 0, reconnects: 0, jumps: 0, errors: {} })
  expect(report.acked).toBeGreaterThanOrEqual(40_000)
  expect(load.acked()).toBeLessThanOrEqual(report.acked)
  expect(await load.readBack()).toEqual({
    acked: report.acked,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    examples: [],
  })
  expect(await load.stop()).toEqual(report)
})

test('each key that another client deletes or changes is found', async () => {
  await using engine = await startTestEngine(newest)
  await using naming = await startNamingServer(engine.address)
  await using load = await startOn(naming, { kind: 'set' })
  await load.untilAcked(10_000)
  const { acked } = await load.stop()
  const gone = [0, 7, 49].map((connection) => `${load.prefix}:${connection}:3`)
  expect(await engine.call('DEL', ...gone)).toBe('3')
  expect(await load.readBack()).toEqual({
    acked,
    lost: 3,
    duplicated: 0,
    unknown: 0,
    examples: gone.map((key) => `key ${key} was acknowledged and is missing`),
  })
  await engine.call('SET', `${load.prefix}:1:5`, 'other')
  expect((await load.readBack()).examples).toContain(
    `key ${load.prefix}:1:5 was acknowledged and has another value`,
  )
})

test('a counter that another client moves is found, while the load runs and after it', async () => {
  await using engine = await startTestEngine(newest)
  await using naming = await startNamingServer(engine.address)
  await using load = await startOn(naming, { kind: 'incr', perSecond: 2_000 })
  await load.untilAcked(500)
  await engine.call('INCR', `${load.prefix}:4`)
  await load.untilAcked(load.acked() + 1_000)
  const report = await load.stop()
  expect(report.jumps).toBe(1)
  expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 1 })
  await engine.call('DECRBY', `${load.prefix}:9`, '2')
  const verdict = await load.readBack()
  expect(verdict).toMatchObject({ lost: 2, duplicated: 1 })
  expect(verdict.examples).toHaveLength(2)
})

test.each(kinds)(
  'the load (%s) follows the primary there and back, and nothing is lost on either',
  async (kind) => {
    await using old = await startTestEngine(oldest, '--repl-diskless-sync-delay', '0')
    await using successor = await startTestEngine(newest, '--replicaof', `127.0.0.1 ${old.address.port}`)
    await using naming = await startNamingServer(old.address)
    await until(async () => /state=online/.test(await old.call('INFO', 'replication')))
    await using load = await startOn(naming, { kind })
    for (const [from, to] of [
      [old, successor],
      [successor, old],
    ] as const) {
      await streamFlows(from, to)
      await load.untilAcked(load.acked() + 5_000)
      const atMs = nowUnixMs()
      await handOver(from, to, naming)
      await load.untilAcked(load.acked() + 5_000)
      const gapMs = await load.longestGapMs({ fromMs: atMs - 250, toMs: atMs + 1_000 })
      console.log(`${kind}: gap around the handover ${gapMs.toFixed(1)} ms`)
      expect(gapMs).toBeLessThan(15_000)
    }
    const report = await load.stop()
    expect(report.errors['READONLY']).toBeGreaterThanOrEqual(2)
    expect(report).toMatchObject({ unknown: 0, jumps: 0 })
    expect(report.reconnects).toBeGreaterThanOrEqual(2 * 50)
    const intact = { acked: report.acked, lost: 0, duplicated: 0, unknown: 0, examples: [] }
    expect(await load.readBack()).toEqual(intact)
    expect(await load.readBack({ address: successor.address })).toEqual(intact)
  },
)

test('a stopped engine leaves outcomes unknown: they count neither as lost nor as confirmed', async () => {
  await using engine = await startTestEngine(newest)
  await using naming = await startNamingServer(engine.address)
  await using load = await startOn(naming, { kind: 'incr', replyWithinMs: 200 })
  await load.untilAcked(2_000)
  const frozenMs = nowUnixMs()
  engine.process.kill('SIGSTOP')
  await until(() => naming.asked() > 1)
  const before = load.acked()
  engine.process.kill('SIGCONT')
  await load.untilAcked(before + 2_000)
  expect(await load.longestGapMs({ fromMs: frozenMs, toMs: frozenMs + 150 })).toBeGreaterThan(150)
  const report = await load.stop()
  expect(report.unknown).toBeGreaterThan(0)
  expect(report.errors['no-answer']).toBe(report.unknown)
  expect(report.jumps).toBe(0)
  expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0, unknown: report.unknown })
})

test('connections that are cut come back to the same address, even while the API is away', async () => {
  await using engine = await startTestEngine(newest)
  const naming = await startNamingServer(engine.address)
  await using load = await startOn(naming, { kind: 'set' })
  await load.untilAcked(1_000)
  await naming[Symbol.asyncDispose]()
  await engine.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await load.untilAcked(load.acked() + 5_000)
  const report = await load.stop()
  expect(report.reconnects).toBeGreaterThanOrEqual(50)
  expect(report.errors['lookup']).toBeGreaterThan(0)
  expect(report.lookupTrouble).toContain('could not be asked for the primary')
  expect(await load.readBack({ address: engine.address })).toMatchObject({ acked: report.acked, lost: 0 })
})

test('a start that cannot succeed says why, in one line', async () => {
  await using engine = await startTestEngine(newest)
  await using naming = await startNamingServer(engine.address)
  const lookup = { url: naming.url, token: 'good' }
  await expect(startLoad({ kind: 'set', password: 'wrong', lookup })).rejects.toThrow(
    /could log in at .*WRONGPASS/,
  )
  await expect(
    startLoad({ kind: 'set', password: PASSWORD, lookup: { url: naming.url, token: 'stale' } }),
  ).rejects.toThrow(`${naming.url} answered 401`)
  const nowhere = { url: 'http://127.0.0.1:21599/v1/bdbs/1', token: 'good' }
  await expect(startLoad({ kind: 'set', password: PASSWORD, lookup: nowhere })).rejects.toThrow(
    'ECONNREFUSED',
  )
})

test('when the process of the load dies, every call says so', async () => {
  await using engine = await startTestEngine(newest)
  await using naming = await startNamingServer(engine.address)
  await using load = await startOn(naming, { kind: 'set' })
  const waiting = load.untilAcked(1_000_000_000)
  process.kill(load.pid, 'SIGKILL')
  await expect(waiting).rejects.toThrow('has ended (SIGKILL)')
  await expect(load.stop()).rejects.toThrow('has ended (SIGKILL)')
  expect(() => load.acked()).toThrow('has ended (SIGKILL)')
})

test('a ledger that is still being written is not judged', async () => {
  await using engine = await startTestEngine(newest)
  await using naming = await startNamingServer(engine.address)
  await using load = await startOn(naming, { kind: 'set' })
  await expect(load.readBack()).rejects.toThrow('call stop() before readBack()')
  await load.stop()
  naming.status = 503
  await expect(load.readBack()).rejects.toThrow('answered 503')
  await load.setToken('stale')
  await expect(load.readBack()).rejects.toThrow('answered 401')
  await expect(load.longestGapMs({ fromMs: 1, toMs: 2 })).rejects.toThrow('did not run in that window')
})

function startOn(
  naming: NamingServer,
  options: Pick<Parameters<typeof startLoad>[0], 'kind' | 'perSecond' | 'replyWithinMs'>,
): Promise<Load> {
  return startLoad({ ...options, password: PASSWORD, lookup: { url: naming.url, token: 'good' } })
}

/** "Online" comes up to a second before the stream flows: only the offset shows that it flows. */
async function streamFlows(from: TestEngine, to: TestEngine): Promise<void> {
  const offset = await from.offset()
  await until(async () => (await to.offset()) > offset)
}

/** The lossless order: writes paused, offsets equal, demote, promote, and then the name. */
async function handOver(from: TestEngine, to: TestEngine, naming: NamingServer): Promise<void> {
  await from.call('CLIENT', 'PAUSE', '10000', 'WRITE')
  const offset = await from.offset()
  await until(async () => (await to.offset()) >= offset)
  await from.call('REPLICAOF', to.address.host, String(to.address.port))
  await to.call('REPLICAOF', 'NO', 'ONE')
  naming.primary = to.address
  await from.call('CLIENT', 'UNPAUSE')
}
