import { encodeCommand } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { makeCluster } from '../../sharded-stage.ts'
import { dial, until } from '../../stage.ts'

/** Together they send more than a thread keeps. */
const CLIENTS = 150
const long = encodeCommand(['EVAL', 'x'.repeat(2_000_000), '1', 'k']).subarray(0, 1_000_000)

test('the bytes kept of long requests whose keys come late are bounded over all clients', async () => {
  await using cluster = await makeCluster()
  await using stack = new AsyncDisposableStack()
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => dial(cluster.port)))
  for (const client of clients) {
    stack.use(client)
    await client.ask('PING', '+PONG\r\n')
    client.socket.write(long)
    await until(() => client.socket.writableLength === 0)
  }
  const refused = () => clients.filter(({ text }) => text().startsWith('-ERR the endpoint keeps too much'))
  await until(() => refused().length > 0)
  const left = clients.filter((client) => !refused().includes(client))
  expect(left.length).toBeGreaterThan(CLIENTS / 4)
  for (const { socket } of left) socket.destroy()
  await until(() => cluster.endpoint.report().connections === 0)
  await using later = await dial(cluster.port)
  later.socket.write(encodeCommand(['EVAL', `return 1 --${'x'.repeat(900_000)}`, '1', 'k']))
  await later.gets(':1\r\n')
})
