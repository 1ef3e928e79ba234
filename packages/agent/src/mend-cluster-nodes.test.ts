import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome, makeWish, until } from '../test/agent-home.ts'
import { engines } from '../test/engines.ts'
import { mendClusterNodes } from './mend-cluster-nodes.ts'
import { shardFolder } from './shard-folder.ts'

const id = (letter: string) => letter.repeat(40)
/** As seen: `d` follows `c`, which was primary a second ago and follows `b` now; `d` still counts to its old shard. */
const stale = `${id('a')} 127.0.0.1:1@10001,,tls-port=0,shard-id=${id('1')} myself,master - 0 0 1 connected 0-5460
${id('b')} 127.0.0.1:2@10002,,tls-port=0,shard-id=${id('2')} master - 0 0 5 connected 5461-16383
${id('c')} 127.0.0.1:3@10003,,tls-port=0,shard-id=${id('2')} slave ${id('b')} 0 0 5 connected
${id('d')} 127.0.0.1:4@10004,,tls-port=0,shard-id=${id('3')} slave ${id('c')} 0 0 5 connected
vars currentEpoch 5 lastVoteEpoch 0
`

test('each replica counts to the shard of the primary at the end of its chain, and nothing else changes', () => {
  const mended = mendClusterNodes(stale)
  expect(mended).toBe(stale.replace(`shard-id=${id('3')}`, `shard-id=${id('2')}`))
  expect(mendClusterNodes(mended)).toBe(mended)
})

/** News of two handovers, there and back, overtook each other: `b` follows `d`, which follows `c`, which follows `b`. */
const circle = stale.replace(`master - 0 0 5`, `slave ${id('d')} 0 0 5`)

test('replicas that go in a circle count to one shard, and nothing else changes', () => {
  const mended = mendClusterNodes(circle)
  expect(mended).toBe(circle.replace(`shard-id=${id('3')}`, `shard-id=${id('2')}`))
  expect(mendClusterNodes(mended)).toBe(mended)
})

test('a file without shard ids stays as it is', () => {
  const plain = `${id('a')} 127.0.0.1:1@10001 myself,slave ${id('b')} 0 0 1 connected\n`
  expect(mendClusterNodes(plain)).toBe(plain)
})

const files = [
  { what: 'a stale chain', text: stale },
  { what: 'a circle', text: circle },
]
test.for(engines.flatMap(({ flavour, version }) => files.map((file) => ({ flavour, version, ...file }))))(
  'a shard in cluster mode comes back with $what in its file, which its engine would refuse: $flavour $version',
  async ({ flavour, version, text }) => {
    const build = { flavour, version }
    await using home = await makeHome()
    await using _ = await home.start()
    const wish = await makeWish({ build, cluster: true })
    await home.client.putShard({ params: { id: 'c-1' }, body: wish })
    const { pid } = await home.becomes('c-1', { state: 'running' })
    await writeFile(join(shardFolder(home.path, 'c-1').data, 'nodes.conf'), text)
    process.kill(pid ?? 0, 'SIGKILL') // asked to stop, it would write its own file again
    await until(
      async () => {
        const { shards } = await home.client.reportNode({})
        const [shard] = shards
        return shard?.state === 'running' && shard.pid !== pid && shard.crashes === 1
      },
      { withinMs: 20_000 },
    )
  },
)
