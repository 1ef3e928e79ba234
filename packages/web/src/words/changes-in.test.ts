import type { Database } from '@fairlead/api'
import { expect, test } from 'vitest'
import { changesIn } from './changes-in.ts'

const orders = {
  memory_size: 256 << 20,
  eviction_policy: 'noeviction',
  replication: true,
  data_persistence: 'aof',
  aof_policy: 'appendfsync-every-sec',
} as Database

function entered(fields: Readonly<Record<string, string>>) {
  const form = new FormData()
  const present = {
    memory: '256',
    eviction: 'noeviction',
    replicas: '1',
    persistence: 'appendfsync-every-sec',
  }
  for (const [name, value] of Object.entries({ ...present, ...fields })) form.set(name, value)
  return changesIn(form, orders)
}

test('a form changes only what is entered differently', () => {
  expect(entered({})).toEqual({})
  expect(entered({ memory: '0.5' })).toEqual({ memory_size: 1 << 19 })
  expect(entered({ replicas: '0', eviction: 'allkeys-lru' })).toEqual({
    replication: false,
    eviction_policy: 'allkeys-lru',
  })
  expect(entered({ persistence: 'appendfsync-always' })).toEqual({ aof_policy: 'appendfsync-always' })
  expect(entered({ persistence: 'snapshot' })).toEqual({ data_persistence: 'snapshot' })
})
