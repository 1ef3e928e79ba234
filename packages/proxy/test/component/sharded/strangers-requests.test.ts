import { encodeCommand } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, makeCluster } from '../../sharded-stage.ts'
import { dial, until } from '../../stage.ts'

const PASSWORD = 'right-password'
/** Its key comes after the script. */
const long = encodeCommand(['EVAL', `return KEYS[1] --${'x'.repeat(400_000)}`, '1', 'k'])

let cluster: Cluster
beforeAll(async () => {
  cluster = await makeCluster()
  for (const engine of cluster.primaries)
    await engine.admin(`ACL SETUSER default on >${PASSWORD} ~* &* +@all -@admin`)
})
afterAll(async () => cluster[Symbol.asyncDispose]())

test('the beginning of a long request is not kept for a client that has not signed in', async () => {
  await using client = await dial(cluster.port)
  client.socket.write(long.subarray(0, -1))
  await until(
    () => client.socket.closed,
    () => `it is kept, and was told ${client.text()}`,
  )
  expect(client.text()).toBe('-ERR Protocol error: unauthenticated bulk length\r\n')
})

test.each([
  ['after its login, sent at once', [encodeCommand(['AUTH', PASSWORD]), long]],
  ['in pieces', [encodeCommand(['AUTH', PASSWORD]), long.subarray(0, 200_000), long.subarray(200_000)]],
])('the long request of a client that signs in is carried out: %s', async (_, pieces) => {
  await using client = await dial(cluster.port)
  for (const piece of pieces) {
    client.socket.write(piece)
    await until(() => client.socket.writableLength === 0)
  }
  await client.gets('+OK\r\n$1\r\nk\r\n')
})
