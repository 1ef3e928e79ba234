import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mendClusterNodes } from '../../../src/folder/mend-cluster-nodes.ts'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { makeHome, makeSpec, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const id = (letter: string) => letter.repeat(40)
/**
 * As seen: `d` follows `c`, which was primary a second ago and follows `b` now; `d` still counts to its old
 * shard.
 */
const stale = `${id('a')} 127.0.0.1:1@10001,,tls-port=0,shard-id=${id('1')} myself,master - 0 0 1 connected 0-5460
${id('b')} 127.0.0.1:2@10002,,tls-port=0,shard-id=${id('2')} master - 0 0 5 connected 5461-16383
${id('c')} 127.0.0.1:3@10003,,tls-port=0,shard-id=${id('2')} slave ${id('b')} 0 0 5 connected
${id('d')} 127.0.0.1:4@10004,,tls-port=0,shard-id=${id('3')} slave ${id('c')} 0 0 5 connected
vars currentEpoch 5 lastVoteEpoch 0
`

test('other replicas begin as primaries without slots, and nothing else changes', () => {
  const mended = mendClusterNodes(stale)
  const asPrimaries = stale.replace(`slave ${id('b')}`, 'master -').replace(`slave ${id('c')}`, 'master -')
  expect(mended).toBe(asPrimaries)
  expect(mendClusterNodes(mended)).toBe(mended)
})

/**
 * News of two handovers, there and back, overtook each other: `b` follows `d`, which follows `c`, which
 * follows `b`.
 */
const circle = stale.replace(`master - 0 0 5`, `slave ${id('d')} 0 0 5`)

test('a circle of replicas is dissolved', () => {
  const mended = mendClusterNodes(circle)
  expect(mended).not.toContain('slave')
  expect(mended).toContain(`master - 0 0 5 connected 5461-16383`)
})

test('the engine itself keeps its role, has no epoch as a replica, and gets the shard id of the primary that it follows', () => {
  const own = stale.replace('myself,master -', `myself,slave ${id('d')}`)
  const mended = mendClusterNodes(own)
  expect(mended).toContain(`shard-id=${id('3')} myself,slave ${id('d')} 0 0 0 connected`)
  expect(mended).toContain(`shard-id=${id('3')} master - 0 0 5 connected\n`)
  expect(mendClusterNodes(mended)).toBe(mended)
})

test('a file without shard ids, or without nodes, stays without them', () => {
  const plain = `${id('a')} 127.0.0.1:1@10001 myself,slave ${id('b')} 0 0 0 connected\n`
  for (const text of [plain, '', 'vars currentEpoch 0 lastVoteEpoch 0\n'])
    expect(mendClusterNodes(text)).toBe(text)
})

const files = [
  { what: 'a stale chain', text: stale },
  { what: 'a circle', text: circle },
]
test.for(engines.flatMap(({ flavour, version }) => files.map((file) => ({ flavour, version, ...file }))))(
  'a shard in cluster mode starts with $what in its file, which its engine would refuse: $flavour $version',
  async ({ flavour, version, text }) => {
    const build = { flavour, version }
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build, cluster: true })
    await home.client.putShard({ params: { id: 'c-1' }, body: spec })
    const { pid } = await home.becomes('c-1', { state: 'running' })
    await writeFile(join(shardFolder(home.path, 'c-1').data, 'nodes.conf'), text)
    process.kill(pid ?? 0, 'SIGKILL') // asked to stop, it would write its own file again
    await until(async () => {
      const { shards } = await home.client.reportNode({})
      const [shard] = shards
      return shard?.state === 'running' && shard.pid !== pid && shard.crashes === 1
    })
  },
)
