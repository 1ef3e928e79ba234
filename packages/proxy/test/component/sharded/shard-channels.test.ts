import { hashSlot } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { dialServed, makeCluster } from '../../sharded-stage.ts'
import { everyBuild, newest } from '../../stage.ts'

/** Names whose slots are different, all of them of the first of three groups. */
const channels = Array.from({ length: 100 }, (_, n) => `c${n}`)
  .filter((name) => hashSlot(Buffer.from(name)) < 5_461)
  .slice(0, 20)

test.for([...new Set([everyBuild.findLast((build) => build.startsWith('redis')) ?? newest, newest])])(
  'a subscriber of shard channels of many slots has all of them after each handover: %s',
  async (build) => {
    expect(new Set(channels.map((name) => hashSlot(Buffer.from(name)))).size).toBe(channels.length)
    await using cluster = await makeCluster({ build, withReplicas: true })
    await using listens = await dialServed(cluster.port)
    await using speaks = await dialServed(cluster.port)
    for (const [n, name] of channels.entries())
      await listens.ask(
        `SSUBSCRIBE ${name}`,
        `*3\r\n$10\r\nssubscribe\r\n$${name.length}\r\n${name}\r\n:${n + 1}\r\n`,
      )
    for (const text of ['one', 'two']) {
      await cluster.handOver(0)
      for (const name of channels) {
        await speaks.ask(`SPUBLISH ${name} ${text}`, ':1\r\n')
        await listens.gets(`*3\r\n$8\r\nsmessage\r\n$${name.length}\r\n${name}\r\n$3\r\n${text}\r\n`)
      }
    }
    expect(cluster.endpoint.report()).toMatchObject({ repoints: 2, errors: 0 })
  },
)

test('a count of subscribers that is asked for all the time is right before and after the handover of each group', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  await using subscribers = new AsyncDisposableStack()
  const confirmed = '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'
  const subscribe = async () => subscribers.use(await dialServed(cluster.port)).ask('SUBSCRIBE c', confirmed)
  await Promise.all(Array.from({ length: 50 }, subscribe))
  await using client = await dialServed(cluster.port)
  let isOver = false
  const count = async () => {
    while (!isOver) await client.ask('PUBSUB NUMSUB c', '*2\r\n$1\r\nc\r\n:50\r\n')
  }
  const handOverEach = async () => {
    for (const group of cluster.primaries.keys()) await cluster.handOver(group)
    isOver = true
  }
  await Promise.all([count(), handOverEach()])
})
