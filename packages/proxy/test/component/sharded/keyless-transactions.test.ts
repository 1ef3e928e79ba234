import { encodeCommand } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { dialServed, keyOf, makeCluster } from '../../sharded-stage.ts'

const [zero, one] = keyOf
const LONG = 'x'.repeat(80_000)
/** More than waits for the first key of a transaction. */
const echo = encodeCommand(['ECHO', LONG])
const crossSlot = "-CROSSSLOT Keys in request don't hash to the same slot\r\n"
const aborted = '-EXECABORT Transaction discarded because of previous errors.\r\n'

test('a transaction that begins with much that has no key belongs to the group of what is watched, else to the first one', async () => {
  await using cluster = await makeCluster()
  await using client = await dialServed(cluster.port)
  await using other = await dialServed(cluster.port)
  const begin = async () => {
    await client.ask('MULTI', '+OK\r\n')
    client.send(echo)
    await client.gets('+QUEUED\r\n')
  }
  await begin()
  await client.ask(`SET ${one} v`, crossSlot)
  await client.ask(`SET ${zero} v`, '+QUEUED\r\n')
  await client.ask('EXEC', aborted)

  await begin()
  await client.ask(`SET ${zero} v`, '+QUEUED\r\n')
  await client.ask(`SET {b2}k v`, crossSlot)
  await client.ask('EXEC', aborted)

  await begin()
  await client.ask(`SET ${zero} v`, '+QUEUED\r\n')
  await client.ask('EXEC', `*2\r\n$${LONG.length}\r\n${LONG}\r\n+OK\r\n`)

  for (const isChanged of [false, true]) {
    await client.ask(`WATCH ${one}`, '+OK\r\n')
    if (isChanged) await other.ask(`SET ${one} other`, '+OK\r\n')
    await begin()
    await client.ask(`SET ${one} v`, '+QUEUED\r\n')
    const done = `*2\r\n$${LONG.length}\r\n${LONG}\r\n+OK\r\n`
    await client.ask('EXEC', isChanged ? '*-1\r\n' : done)
    await client.ask(`GET ${one}`, isChanged ? '$5\r\nother\r\n' : '$1\r\nv\r\n')
  }
  expect(cluster.endpoint.report()).toMatchObject({ errors: 0 })
})
