import { type EngineConnection, hashSlot } from '@fairlead/engine'
import { expect, test } from 'vitest'
import type { StepContext } from '../turn/step-context.ts'
import { listenOnTheBus } from './messages-on-the-bus.ts'

const slots = { first: 100, last: 355 }

/**
 * Listens at a successor that receives nothing. Answers the channel, and the address of the shard at which it
 * was published.
 */
async function listened() {
  const channels: string[] = []
  const published: unknown[] = []
  const primary = {
    info: async () => 'pubsub_channels:1\r\n',
    call: async (...words: readonly unknown[]) => published.push(words),
  } as unknown as EngineConnection
  const runs = { build: { flavour: 'valkey', version: '9.1.2' } }
  const context = {
    database: { cluster: true, endpointPort: 1, ossCluster: false },
    members: [1, 2].map((id) => ({ id, runs })),
    seen: { slots },
    ports: {
      engines: {
        listen: async (_database: unknown, _shard: unknown, channel: string) => {
          channels.push(channel)
          return { [Symbol.dispose]: () => undefined }
        },
      },
      time: { pause: async () => undefined },
    },
  } as unknown as Parameters<typeof listenOnTheBus>[2] & StepContext<never>
  using bus = await listenOnTheBus({ from: 1, to: 2 }, primary, context)
  await bus?.arrived()
  const [channel = ''] = channels
  expect(published).toEqual([['SPUBLISH', channel, '']])
  return channel
}

test('the channel is of the group, and no client can know it before', async () => {
  const [one, other] = [await listened(), await listened()]
  for (const channel of [one, other]) {
    expect(channel).toMatch(/^fairlead:handover:/)
    const slot = hashSlot(Buffer.from(channel))
    expect(slot >= slots.first && slot <= slots.last).toBe(true)
  }
  expect(one).not.toBe(other)
})
