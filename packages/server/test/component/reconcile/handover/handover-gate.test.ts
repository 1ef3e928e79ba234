import type { EngineConnection } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { passGate } from '../../../../src/reconcile/handover/handover-gate.ts'

/** An engine that says this of its replication, whatever is asked. */
const engineWith = (port: number, info: Readonly<Record<string, string | number>>) =>
  ({
    address: { host: '127.0.0.1', port },
    call: async () => 1,
    info: async () =>
      Object.entries(info)
        .map(([name, value]) => `${name}:${value}\r\n`)
        .join(''),
  }) as unknown as EngineConnection

test('a gate that is not open names shards, and no addresses', async () => {
  let now = 0
  const time = {
    elapsed: () => now,
    pause: async (ms: number) => {
      now += ms
    },
  }
  const nameOf = (port: number) => `shard ${port - 7_000}`
  const of = { role: 'master', master_replid: 'r', master_repl_offset: 9_000_000 }
  const replica = {
    role: 'slave',
    master_link_status: 'up',
    master_replid: 'r',
    slave_repl_offset: 9_000_000,
  }
  const gate = (primary: object, follower: object) =>
    passGate(
      engineWith(7_001, { ...of, ...primary }),
      [engineWith(7_003, { ...replica, ...follower })],
      nameOf,
      time,
      AbortSignal.timeout(10_000),
    )
  expect(await gate({ slave0: 'ip=127.0.0.1,port=7003,state=wait_bgsave,offset=0,lag=0' }, {})).toEqual({
    code: 'full_sync',
    why: 'shard 3 receives a full sync',
  })
  expect(await gate({}, { master_link_status: 'down' })).toEqual({
    code: 'replication',
    why: 'the stream to shard 3 does not flow yet',
  })
})
