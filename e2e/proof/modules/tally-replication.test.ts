import { expect, test } from 'vitest'
import { type BuildName, build, findBuild } from '../../../proof/engine-pairs.ts'
import { testModule } from '../../../proof/modules/build-modules.ts'
import { startModuleEngine, type TestEngine } from '../../../proof/modules/start-module-engine.ts'
import { until } from '../../../proof/until.ts'

const one = await testModule('1.0.0')
const two = await testModule('2.0.0')

/** Old primary → new replica: the same build, other builds, the other flavour. */
const pairs = [
  [build('redis', '7.0'), build('redis', '7.0')],
  [build('redis', '7.0'), build('valkey', '8.1')],
  [build('valkey', '8.0'), build('valkey', '8.1')],
  [build('valkey', '8.1'), findBuild('valkey', '9')],
  [findBuild('redis', '8.0'), findBuild('redis', '8.0')],
].filter((pair): pair is [BuildName, BuildName] => !pair.includes(undefined))

/** The pairs of engines for which a full sync from the second to the first is possible. */
const sameFormat = pairs.filter(([older, newer]) => older.split('-')[0] === newer.split('-')[0])

test.each(pairs)(
  '1.0 on %s follows 2.0 on %s by a partial resync, and skips the new commands',
  async (...pair) => {
    await using swapped = await swapRoles(...pair)
    const { old, successor } = swapped
    expect(await successor.info('stats', 'sync_full')).toBe('0')
    expect(await successor.info('stats', 'sync_partial_ok')).toBe('1')
    await successor.call('TALLY.ADD', 'k', 10)
    await untilTally(old, 'k', 16)
    expect(await old.info('stats', 'unexpected_error_replies')).toBe('0')

    await successor.call('TALLY.NAME', 'k', 'bob')
    await successor.call('TALLY.NAME', 'only here', 'eve')
    await successor.call('TALLY.ADD', 'k', 10)
    await untilTally(old, 'k', 26)
    expect(await old.info('stats', 'unexpected_error_replies')).toBe('2')
    expect(await old.info('replication', 'master_link_status')).toBe('up')
    const said = /== CRITICAL == .* (master|primary): 'unknown command 'TALLY.NAME'/
    expect(await old.log()).toMatch(said)
    // A key that a command of 2.0 made is missing, although the offsets are equal.
    expect([await successor.call('DBSIZE'), await old.call('DBSIZE')]).toEqual([2, 1])
    await untilSameOffset(successor, old)

    // When the link breaks, the old primary reconnects with a partial resync in spite of that.
    await successor.call('CLIENT', 'KILL', 'TYPE', 'replica')
    await until(
      'the link is up again',
      async () => (await successor.info('stats', 'sync_partial_ok')) === '2',
    )
    expect(await successor.info('stats', 'sync_full')).toBe('0')
  },
)

test.each(sameFormat)(
  'a full sync 2.0 → 1.0 ends the process of the replica, and its data (%s ← %s)',
  async (older, newer) => {
    await using primary = await startModuleEngine(newer, { module: two })
    await primary.call('TALLY.ADD', 'nameless', 1)
    await using replica = await startModuleEngine(older, { module: one })
    await replica.call('TALLY.ADD', 'its own', 1)
    await replica.call('SAVE')

    await follow(replica, primary)
    await until('the replica has ended', async () => replica.hasEnded)
    expect(await replica.log()).toContain('cannot read encoding 1')
    // The received file has replaced its own file before it was read.
    await expect(replica.startAgain({ module: one })).rejects.toThrow('the engine ended')
    await replica.startAgain({ module: two })
    expect(await replica.call('TALLY.GET', 'nameless')).toBe(1)
    expect(await replica.call('TALLY.GET', 'its own')).toBe(null)
  },
)

test.each(sameFormat)(
  'so does a full sync of data to a replica without the module (%s → %s)',
  async (older, newer) => {
    await using primary = await startModuleEngine(older, { module: one })
    await primary.call('TALLY.ADD', 'k', 1)
    await using replica = await startModuleEngine(newer, {})
    await follow(replica, primary)
    await until('the replica has ended', async () => replica.hasEnded)
    expect(await replica.log()).toContain("module type 'tallytype'")
  },
)

test('with an RDB format that the replica cannot read it tries without end, and has lost its data', async () => {
  await using primary = await startModuleEngine(build('valkey', '8.1'), { module: two })
  await primary.call('TALLY.ADD', 'k', 1)
  await using replica = await startModuleEngine(build('redis', '7.0'), { module: one })
  await replica.call('TALLY.ADD', 'its own', 1)
  await follow(replica, primary)
  await until('it has tried twice', async () => Number(await primary.info('stats', 'sync_full')) >= 2)
  expect(replica.hasEnded).toBe(false)
  expect(await replica.info('replication', 'master_link_status')).toBe('down')
  expect(await replica.log()).toContain('RDB format version')
  expect(await replica.call('DBSIZE').catch((cause: unknown) => String(cause))).toBe(0)
})

test.each(pairs)(
  'without the module and without data of its type, a replica links, and skips the writes of the module (%s → %s)',
  async (older, newer) => {
    await using primary = await startModuleEngine(older, { module: one })
    await using replica = await startModuleEngine(newer, {
      settings: [`replicaof 127.0.0.1 ${primary.port}`],
    })
    await untilLinked(replica)
    await primary.call('TALLY.ADD', 'k', 1)
    await primary.call('SET', 'plain', 1)
    await until('the stream is applied', async () => (await replica.call('GET', 'plain')) === '1')

    expect(await replica.info('replication', 'master_link_status')).toBe('up')
    expect(await replica.info('stats', 'unexpected_error_replies')).toBe('1')
    expect([await primary.call('DBSIZE'), await replica.call('DBSIZE')]).toEqual([2, 1])
    await untilSameOffset(primary, replica)
  },
)

interface Swapped extends AsyncDisposable {
  /** The engine with 1.0, which was the primary and is a replica now. It has the tally k, 6. */
  readonly old: TestEngine
  /** The engine with 2.0, which is the primary now. */
  readonly successor: TestEngine
}

async function swapRoles(older: BuildName, newer: BuildName): Promise<Swapped> {
  await using opened = new AsyncDisposableStack()
  const old = opened.use(await startModuleEngine(older, { module: one }))
  await old.call('TALLY.ADD', 'k', 5)
  const settings = [`replicaof 127.0.0.1 ${old.port}`]
  const successor = opened.use(await startModuleEngine(newer, { module: two, settings }))
  await untilLinked(successor)
  await old.call('TALLY.ADD', 'k', 1)
  await untilTally(successor, 'k', 6)
  await successor.call('REPLICAOF', 'NO', 'ONE')
  await follow(old, successor)
  await untilLinked(old)
  const owned = opened.move()
  return { old, successor, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function follow(replica: TestEngine, primary: TestEngine): Promise<void> {
  await replica.call('REPLICAOF', '127.0.0.1', primary.port)
}

async function untilLinked(replica: TestEngine): Promise<void> {
  await until(
    'the link is up',
    async () => (await replica.info('replication', 'master_link_status')) === 'up',
  )
}

async function untilTally(engine: TestEngine, key: string, sum: number): Promise<void> {
  await until(`${key} is ${sum}`, async () => (await engine.call('TALLY.GET', key)) === sum)
}

async function untilSameOffset(primary: TestEngine, replica: TestEngine): Promise<void> {
  await until('both stand at one offset', async () => {
    const theirs = await replica.info('replication', 'slave_repl_offset')
    return theirs === (await primary.info('replication', 'master_repl_offset'))
  })
}
