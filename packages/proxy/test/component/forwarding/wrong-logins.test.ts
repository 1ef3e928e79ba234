import { expect, test } from 'vitest'
import { builds, dial, makePair, until } from '../../stage.ts'

/*
 * Redis 8.0 and valkey 8.0 and 8.1 say nothing to a wrong login while an earlier reply has not left them
 * (redis/redis#15640, valkey-io/valkey#2106); redis 7.0 and valkey 9.1 answer always.
 */

test.for(builds)(
  'a wrong login behind other requests is answered, and its client can move: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    for (const engine of [pair.a, pair.b]) await engine.admin('ACL SETUSER one on >one ~* &* +@all')
    await using client = await dial(pair.port)
    await using other = await dial(pair.port)
    await client.ask('AUTH one one', '+OK\r\n')
    client.send('PING\r\nAUTH none wrong\r\nAUTH one wrong\r\nECHO a\r\nHELLO 2 AUTH one wrong\r\nECHO b\r\n')
    const wrong = '-WRONGPASS invalid username-password pair or user is disabled.\r\n'
    await client.gets(`+PONG\r\n${wrong}${wrong}$1\r\na\r\n${wrong}$1\r\nb\r\n`)
    await pair.handOver()
    await client.ask('ACL WHOAMI', '$3\r\none\r\n')
    await other.ask('SET k v', '+OK\r\n')
    expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0, connections: 2 })
  },
)

// invariant: A refused login is answered and changes nothing of the state that moves.
test.for(builds)('a wrong login without an answer changes nothing at a handover: %s', async (build) => {
  await using pair = await makePair(build, build)
  for (const engine of [pair.a, pair.b])
    for (const name of ['one', 'other']) await engine.admin(`ACL SETUSER ${name} on >${name} ~* &* +@all`)
  await using client = await dial(pair.port)
  await using skips = await dial(pair.port)
  await client.ask('AUTH one one', '+OK\r\n')
  client.send('CLIENT REPLY OFF\r\nAUTH other wrong\r\nAUTH none none\r\nCLIENT REPLY ON\r\n')
  await client.gets('+OK\r\n')
  skips.send('PING\r\nCLIENT REPLY SKIP\r\nAUTH one wrong\r\nPING\r\n')
  await skips.gets('+PONG\r\n+PONG\r\n')
  await pair.handOver()
  await client.ask('ACL WHOAMI', '$3\r\none\r\n')
  await skips.ask('ACL WHOAMI', '$7\r\ndefault\r\n')
  client.send('CLIENT REPLY OFF\r\nAUTH other other\r\nAUTH one wrong\r\nCLIENT REPLY ON\r\n')
  await client.gets('+OK\r\n')
  await pair.handOver()
  await client.ask('ACL WHOAMI', '$5\r\nother\r\n')
  // A login that is answered replaces those without an answer.
  await client.ask('AUTH one one', '+OK\r\n')
  client.send('MULTI\r\nPING\r\nEXEC\r\nCLIENT REPLY OFF\r\nAUTH other wrong\r\n')
  await until(() => client.text().endsWith('+PONG\r\n'))
  await client.gets('+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n')
  await pair.handOver()
  client.send('CLIENT REPLY ON\r\nACL WHOAMI\r\n')
  await client.gets('+OK\r\n$3\r\none\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0, connections: 2 })
})

test('a client whose password was changed after its login is served until the role moves, and is closed then with the reason', async () => {
  await using pair = await makePair()
  const engines = [pair.a, pair.b]
  for (const engine of engines) await engine.admin('ACL SETUSER one on >before ~* &* +@all')
  await using before = await dial(pair.port)
  await before.ask('AUTH one before', '+OK\r\n')
  for (const engine of engines) await engine.admin('ACL SETUSER one <before >after')
  await using after = await dial(pair.port)
  await after.ask('AUTH one after', '+OK\r\n')
  await before.ask('ACL WHOAMI', '$3\r\none\r\n')
  await pair.handOver()
  await before.gets(
    '-LOADING the database cannot be reached: WRONGPASS invalid username-password pair or user is disabled.\r\n',
  )
  await until(() => before.ended())
  await after.ask('ACL WHOAMI', '$3\r\none\r\n')
})
