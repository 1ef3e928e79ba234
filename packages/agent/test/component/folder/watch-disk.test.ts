import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShardReport, ShardSpec } from '@fairlead/api'
import { numberOf, readInfo } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { parseSnapshotHead } from '../../../src/folder/read-snapshot-head.ts'
import { parseClaim } from '../../../src/folder/watch-disk.ts'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const within = { withinMs: 60_000 }
const builds = engines.map(({ flavour, version }) => ({ flavour, version }))

test.for(builds)(
  'the report has replication id and offset of the snapshot of a shard: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const primary = await put(home, 'a-1', { build })
    const { host, port, adminPassword } = primary
    const replica = await put(home, 'a-2', { build, replicaOf: { host, port }, adminPassword })
    using engine = await connectAs('fairlead', replica)
    await until(async () => (await engine.info('replication')).includes('master_link_status:up'), within)
    expect(await diskOf(home, 'a-2')).toMatchObject({ snapshot: null, aof: 'none', claim: null })

    using source = await connectAs('fairlead', primary)
    await source.call('SET', 'key', 'value')
    await source.call('WAIT', 1, 5_000)
    await engine.call('BGSAVE')
    await until(async () => (await diskOf(home, 'a-2'))?.snapshot != null, within)
    const snapshot = (await diskOf(home, 'a-2'))?.snapshot
    const info = readInfo(await engine.info('replication'))
    expect(snapshot?.replid).toBe(info['master_replid'])
    expect(snapshot?.offset).toBeGreaterThan(0)
    expect(snapshot?.offset).toBeLessThanOrEqual(numberOf(info, 'master_repl_offset'))
  },
)

test('the report says whether the append-only file holds everything, and when nothing is there', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  await put(home, 'a-1', { persistence: 'aof', onCrash: 'wait' })
  const { pid } = await home.becomes('a-1', { state: 'running' })
  process.kill(pid ?? 0, 'SIGKILL')
  await home.becomes('a-1', { state: 'exited' })
  expect(await diskOf(home, 'a-1')).toMatchObject({ aof: 'whole', snapshot: null })
  await rm(join(home.path, 'shards', 'a-1', 'data'), { recursive: true })
  await until(async () => (await diskOf(home, 'a-1'))?.aof === 'none', within)
})

describe('the head of a snapshot', () => {
  const text = (value: string) => Buffer.from([value.length, ...Buffer.from(value)])
  const head = (...fields: readonly Buffer[]) => Buffer.concat([Buffer.from('REDIS0011'), ...fields])
  const field = (name: string, value: Buffer) => Buffer.concat([Buffer.from([0xfa]), text(name), value])
  const id = field('repl-id', text('a'.repeat(40)))

  test.each([
    ['one byte', Buffer.from([0xc0, 50]), 50],
    ['two bytes', Buffer.from([0xc1, 0x10, 0x27]), 10_000],
    ['four bytes', Buffer.from([0xc2, 0x40, 0x42, 0x0f, 0]), 1_000_000],
    ['digits', text('5000000000'), 5_000_000_000],
  ])('has its offset in %s', (_, value, offset) => {
    const bytes = head(field('ctime', Buffer.from([0xc2, 1, 2, 3, 4])), id, field('repl-offset', value))
    expect(parseSnapshotHead(Buffer.concat([bytes, Buffer.from([0xfe, 0])]))).toEqual({
      replid: 'a'.repeat(40),
      offset,
    })
    for (let cut = 0; cut < bytes.length; cut += 1)
      expect(parseSnapshotHead(bytes.subarray(0, cut)).offset, `cut at ${cut}`).toBeNull()
  })
})

test.each([
  ['a primary with slots', '11 h:1@2 myself,master - 0 0 7 connected 0-5460', 7],
  ['a primary without slots', '11 h:1@2 myself,master - 0 0 7 connected', null],
  ['a primary that only receives a slot', '11 h:1@2 myself,master - 0 0 7 connected [5-<-22]', null],
  ['a replica', '11 h:1@2 myself,slave 22 0 0 7 connected', null],
  ['no node', '', null],
])('nodes.conf of %s says with which epoch it claims slots', (_, own, epoch) => {
  const other = '22 h:3@4 master - 0 0 9 connected 5461-16383'
  expect(parseClaim(`${other}\n${own}\nvars currentEpoch 9 lastVoteEpoch 0\n`)).toBe(epoch)
})

async function put(home: TestHome, id: string, change: Partial<ShardSpec>): Promise<ShardSpec> {
  const spec = await makeSpec(change)
  await home.client.putShard({ params: { id }, body: spec })
  await home.becomes(id, { state: 'running' })
  return spec
}

async function diskOf(home: TestHome, id: string): Promise<ShardReport['disk']> {
  return (await home.shard(id))?.disk ?? null
}
