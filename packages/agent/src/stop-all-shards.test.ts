import { expect, test } from 'vitest'
import { connectAs, makeHome, makeWish } from '../test/agent-home.ts'
import { stopAllShards } from './stop-all-shards.ts'

test('all shards are stopped with their data saved, and come back with the next agent as far as they may', async () => {
  await using home = await makeHome()
  const wishes = {
    back: await makeWish(),
    waits: await makeWish({ onCrash: 'wait' }),
    never: await makeWish({ build: { flavour: 'valkey', version: '0.0.1' } }),
  }
  const signal = AbortSignal.timeout(20_000)
  {
    await using _ = await home.start()
    for (const [id, body] of Object.entries(wishes)) await home.client.putShard({ params: { id }, body })
    await home.becomes('waits', { state: 'running' })
    await home.becomes('back', { state: 'running' })
    using client = await connectAs('default', wishes.back)
    await client.call('SET', 'key', 'value')
    await expect(stopAllShards(home.path, home.logger, signal)).rejects.toThrow('another agent runs on')
  }
  expect(await stopAllShards(home.path, home.logger, signal)).toEqual({
    stopped: ['back', 'waits'],
    refused: [],
    proxyStopped: false,
  })
  await expect(connectAs('default', wishes.back)).rejects.toThrow('gave no answer')
  expect(await stopAllShards(home.path, home.logger, signal)).toEqual({
    stopped: [],
    refused: [],
    proxyStopped: false,
  })

  await using _ = await home.start()
  await home.becomes('back', { state: 'running', crashes: 0 })
  using client = await connectAs('default', wishes.back)
  expect(await client.call('GET', 'key')).toBe('value')
  const waits = await home.becomes('waits', { state: 'exited', crashes: 0 })
  expect(waits.why).toBe('was stopped with all others; waits for the server to put it again')
  await home.client.putShard({ params: { id: 'waits' }, body: wishes.waits })
  await home.becomes('waits', { state: 'running' })
})
