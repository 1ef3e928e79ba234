import type { Database } from '@fairlead/api'
import { expect, test } from 'vitest'
import { changesIn, creationOf, sayReplicas } from './database-forms.ts'

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}
const least = {
  name: 'orders',
  memory: '64',
  shards: '1',
  replicas: '1',
  persistence: 'appendfsync-every-sec',
}

test('what is left empty is left to the server, and what is shown is sent as it was shown', () => {
  expect(creationOf(formOf({ ...least, port: '', password: '' }))).toEqual({
    name: 'orders',
    memory_size: 64 << 20,
    shards_count: 1,
    replication: true,
    data_persistence: 'aof',
    aof_policy: 'appendfsync-every-sec',
  })
})

test('the form has what the command line has: TLS, port, eviction, persistence, password, shards, cluster protocol, modules', () => {
  const all = {
    ...least,
    shards: '3',
    replicas: '0',
    persistence: 'snapshot',
    eviction: 'allkeys-lfu',
    tls: 'on',
    port: '12000',
    password: 'a-password-of-mine',
    'cluster-protocol': 'on',
    module: 'search',
    engine: 'valkey-9.1.2',
  }
  expect(creationOf(formOf(all))).toEqual({
    name: 'orders',
    memory_size: 64 << 20,
    shards_count: 3,
    sharding: true,
    oss_cluster: true,
    replication: false,
    data_persistence: 'snapshot',
    eviction_policy: 'allkeys-lfu',
    tls_mode: 'enabled',
    port: 12_000,
    authentication_engine_pass: 'a-password-of-mine',
    module_list: [{ module_name: 'search' }],
    engine_version: 'valkey-9.1.2',
  })
})

test('replicas are said with what they cost, and none with what can be lost', () => {
  expect(sayReplicas('1', 256)).toContain('takes 256 MiB again')
  expect(sayReplicas('1', Number.NaN)).toContain('as much memory again')
  expect(sayReplicas('0', 256)).toContain('with what was on disk')
})

test('a form of settings changes only what is entered differently', () => {
  const orders = {
    memory_size: 256 << 20,
    eviction_policy: 'noeviction',
    replication: true,
    data_persistence: 'aof',
    aof_policy: 'appendfsync-every-sec',
    name: 'orders',
    port: 12_000,
    tls_mode: 'disabled',
  } as Database
  const same = { name: 'orders', port: '12000', tls: 'disabled', former: '', password: '', memory: '256' }
  const entered = (fields: Readonly<Record<string, string>>) =>
    changesIn(formOf({ ...least, ...same, eviction: 'noeviction', ...fields }), orders)
  expect(entered({})).toEqual({})
  expect(entered({ memory: '0.5' })).toEqual({ memory_size: 1 << 19 })
  expect(entered({ replicas: '0', eviction: 'allkeys-lru' })).toEqual({
    replication: false,
    eviction_policy: 'allkeys-lru',
  })
  expect(entered({ persistence: 'appendfsync-always' })).toEqual({ aof_policy: 'appendfsync-always' })
  expect(entered({ persistence: 'snapshot' })).toEqual({ data_persistence: 'snapshot' })
  expect(entered({ name: 'bills', port: '12001', tls: 'enabled', former: '0' })).toEqual({
    name: 'bills',
    port: 12_001,
    tls_mode: 'enabled',
    former_valid_seconds: 0,
  })
  expect(entered({ password: 'another-one' })).toEqual({ authentication_engine_pass: 'another-one' })
})
