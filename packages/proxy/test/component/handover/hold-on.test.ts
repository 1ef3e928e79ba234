import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { builds, dial, makePair, until } from '../../stage.ts'

describe.each(builds)('a hold that is never ended, before %s', (build) => {
  // invariant: Held clients are not released to a replica, a silent engine or one that refuses writes.
  test.each([
    ['the default user', ''],
    ['a user that may not administrate', 'AUTH app pw'],
  ])('goes on if the role has moved, until the endpoint learns the new address: %s', async (_, login) => {
    await using pair = await makePair(build, build)
    for (const engine of [pair.a, pair.b])
      await engine.admin('ACL SETUSER app on >pw ~* +@all -@admin -@dangerous')
    await using client = await dial(pair.port)
    if (login !== '') await client.ask(login, '+OK\r\n')
    await client.ask('SET k 1', '+OK\r\n')
    expect(await pair.endpoint.hold({ deadlineMs: 60_000 })).toMatchObject({ drained: true })
    await pair.moveRole()
    await pair.endpoint.hold({ deadlineMs: 100 })
    client.send('INCR k\r\n')
    await delay(400)
    expect(client.text()).toBe('')
    await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
    await client.gets(':2\r\n')
    expect(pair.endpoint.report()).toMatchObject({ failedHolds: 0, errors: 0 })
  })

  test('goes on while the engine is stalled, and ends with the old upstream when that is still the primary', async () => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    await client.ask('SET k 1', '+OK\r\n')
    expect(await pair.endpoint.hold({ deadlineMs: 60_000 })).toMatchObject({ drained: true })
    pair.a.process.kill('SIGSTOP')
    await pair.endpoint.hold({ deadlineMs: 100 })
    client.send('INCR k\r\n')
    await delay(400)
    expect(pair.endpoint.report()).toMatchObject({ isHeld: true })
    pair.a.process.kill('SIGCONT')
    await client.gets(':2\r\n')
    await until(() => !pair.endpoint.report().isHeld)
  })
})

describe.each(builds.filter((build) => /^redis-6\.0\./.test(build)))('before %s', (build) => {
  test.each([
    ['the user of the database', ''],
    ['a user that may not administrate', 'AUTH app pw'],
  ])('a hold goes on while writes are refused, and ends when they are not: %s', async (_, login) => {
    await using pair = await makePair(build, build)
    await pair.a.admin('ACL SETUSER app on >pw ~app:* +@all -@admin -@dangerous')
    await using client = await dial(pair.port)
    if (login !== '') await client.ask(login, '+OK\r\n')
    await client.ask('SET app:k 1', '+OK\r\n')
    expect(await pair.endpoint.hold({ deadlineMs: 60_000 })).toMatchObject({ drained: true })
    await pair.a.admin('CONFIG SET min-replicas-to-write 1000')
    await pair.endpoint.hold({ deadlineMs: 100 })
    client.send('INCR app:k\r\n')
    await delay(400)
    expect(client.text()).toBe('')
    await pair.a.admin('CONFIG SET min-replicas-to-write 0')
    await client.gets(':2\r\n')
    await until(() => !pair.endpoint.report().isHeld)
  })
})

test('a client with only a question of the proxy under way moves when the old primary dies', async () => {
  await using pair = await makePair()
  expect(await pair.endpoint.hold({ deadlineMs: 20_000 })).toMatchObject({ drained: true })
  await pair.moveRole()
  // Its link is opened where the role was, and whether clients have to sign in there is asked and never
  // answered.
  pair.a.process.kill('SIGSTOP')
  await using first = await dial(pair.port)
  await until(() => pair.endpoint.clients({ limit: 10 }).clients.some(({ via }) => via.length > 0))
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  pair.a.process.kill('SIGKILL')
  await first.ask('SET k v', '+OK\r\n')
  expect(await pair.b.admin('GET k')).toBe('$1\r\nv\r\n')
})
