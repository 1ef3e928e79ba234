import { hashSlot } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { keyOf, makeCluster } from '../../test/sharded-stage.ts'
import { dial } from '../../test/stage.ts'

const crossSlot = "-CROSSSLOT Keys in request don't hash to the same slot\r\n"
const [zero, one, two] = keyOf

test('each command reaches the group of its keys, and replies come in the order of requests', async () => {
  await using cluster = await makeCluster()
  expect(keyOf.map((key) => Math.floor((hashSlot(Buffer.from(key)) * 3) / 16_384))).toEqual([0, 1, 2])
  await using client = await dial(cluster.port)
  client.send(
    `SET ${zero} a\r\nSET ${one} b\r\nGET ${zero}\r\nSET ${two} c\r\nGET ${two}\r\nGET ${one}\r\nPING\r\n`,
  )
  await client.gets('+OK\r\n+OK\r\n$1\r\na\r\n+OK\r\n$1\r\nc\r\n$1\r\nb\r\n+PONG\r\n')
  await client.ask(`MGET ${zero} ${one}`, crossSlot)
  await client.ask('DBSIZE', ':3\r\n')
})
