import { expect, test } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { makeCluster } from '../../sharded-stage.ts'
import { dial, freePort, makeEndpointSpec, newest, startEngine, until } from '../../stage.ts'

const asked = 'SET {a}k v\r\nGET {a}k\r\nPING\r\nBLPOP {a}q 0\r\n'
const answered = '+OK\r\n$1\r\nv\r\n+PONG\r\n'

/** All in one go, and its side closed: as `nc` does with a file. */
async function answersTo(port: number): Promise<string> {
  await using client = await dial(port)
  client.socket.end(asked)
  await until(() => client.ended())
  return client.text()
}

test('a client that closes its side gets the replies before a command that blocks, as from an engine', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using cluster = await makeCluster()
  for (const port of [engine.port, endpoint.wanted.port, cluster.port])
    for (let n = 0; n < 10; n += 1) expect(await answersTo(port)).toBe(answered)
})
