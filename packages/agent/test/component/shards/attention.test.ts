import { connectEngine } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { createAttention } from '../../../src/shards/attention.ts'
import { connectAs, makeHome, makeSpec } from '../../agent-home.ts'

test('the end of a connection causes a look at once, and repeated ends cause looks at intervals', () => {
  let now = 10_000
  const attention = createAttention(() => now)
  let looks = 0
  for (let ended = 0; ended < 1_000; ended += 1) {
    if (attention.ended()) looks += 1
    now += 2
  }
  expect(looks).toBe(4)
  now += 500
  expect(attention.ended()).toBe(true)
})

test('one request for a shard does not make looks more frequent; a second one soon after it does', () => {
  let now = 10_000
  const attention = createAttention(() => now)
  attention.look(true)
  now += 4_000
  expect(attention.look(true)).toBe(false)
  now += 900
  // The safety net of the server.
  expect(attention.ask()).toBe(false)
  expect([attention.pauseMs(1_000), attention.look(true)]).toEqual([1_000, false])
  // Work in progress.
  now += 1_900
  expect(attention.ask()).toBe(true)
  expect([attention.pauseMs(1_000), attention.look(true)]).toEqual([250, true])
  now += 2_000
  expect([attention.pauseMs(1_000), attention.look(true)]).toEqual([1_000, false])
})

test('an engine that closes each connection of the agent at once does not make the agent busy', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 's1' }, body: spec })
  await home.becomes('s1', { state: 'running' })
  using admin = await connectAs('fairlead', spec)
  await admin.call('ACL', 'SETUSER', 'killer', 'on', 'nopass', '+@all')
  using killer = await connectEngine({ address: spec, login: { username: 'killer', password: '' } })
  const began = performance.now()
  let kills = 0
  while (kills < 40) kills += Number(await killer.call('CLIENT', 'KILL', 'USER', 'fairlead'))
  // Each connection is opened by another look. Without a pause between the looks it takes a twentieth of the
  // time; a machine under load takes longer.
  expect(performance.now() - began).toBeGreaterThan(800)
})
