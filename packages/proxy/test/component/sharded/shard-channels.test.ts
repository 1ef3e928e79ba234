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
