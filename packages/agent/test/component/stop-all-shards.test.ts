import { expect, test } from 'vitest'
import { stopAllShards } from '../../src/stop-all-shards.ts'
import { connectAs, makeHome, makeSpec } from '../agent-home.ts'

test('all shards are stopped with their data saved, and the next agent starts those that may start', async () => {
  await using home = await makeHome()
  const specs = {
    back: await makeSpec(),
    waits: await makeSpec({ onCrash: 'wait' }),
    never: await makeSpec({ build: { flavour: 'valkey', version: '0.0.1' } }),
  }
  const signal = AbortSignal.timeout(60_000)
  {
    await using _ = await home.start()
    for (const [id, body] of Object.entries(specs)) await home.client.putShard({ params: { id }, body })
    await home.becomes('waits', { state: 'running' })
    await home.becomes('back', { state: 'running' })
    using client = await connectAs('default', specs.back)
    await client.call('SET', 'key', 'value')
    await expect(stopAllShards(home.path, home.logger, signal)).rejects.toThrow('another agent runs on')
  }
  expect(await stopAllShards(home.path, home.logger, signal)).toEqual({
    stopped: ['back', 'waits'],
    refused: [],
    proxyStopped: false,
  })
  await expect(connectAs('default', specs.back)).rejects.toThrow('gave no answer')
  expect(await stopAllShards(home.path, home.logger, signal)).toEqual({
    stopped: [],
    refused: [],
    proxyStopped: false,
  })

  await using _ = await home.start()
  await home.becomes('back', { state: 'running', crashes: 0 })
  using client = await connectAs('default', specs.back)
  expect(await client.call('GET', 'key')).toBe('value')
  const waits = await home.becomes('waits', { state: 'exited', crashes: 0 })
  expect(waits.why).toBe('was stopped with all others; waits until the server orders its start')
  await home.client.putShard({ params: { id: 'waits' }, body: specs.waits })
  await home.becomes('waits', { state: 'running' })
})
