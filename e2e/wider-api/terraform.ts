import { expect } from 'vitest'
import type { Json, Replay } from './replay.ts'

const isActive = ({ status }: Json) => status === 'active'

/** A declarative client: reads the present state, creates what is missing, reads it back, changes one field, reads again, and destroys. */
export const terraform: readonly Replay[] = [
  { sends: ['GET', '/v1/bdbs?fields=uid,name'], reads: [] },
  {
    sends: [
      'POST',
      '/v1/bdbs',
      {
        name: 'terraform',
        memory_size: 67_108_864,
        sharding: true,
        shards_count: 2,
        shard_key_regex: [{ regex: '.*\\{(?<tag>.*)\\}.*' }, { regex: '(?<tag>.*)' }],
        oss_cluster: false,
        data_persistence: 'aof',
        aof_policy: 'appendfsync-every-sec',
        authentication_redis_pass: '',
      },
    ],
    reads: {
      uid: expect.any(Number),
      sharding: true,
      shards_count: 2,
      authentication_redis_pass: expect.stringMatching(/^.{16,}$/),
    },
    keeps: { db: ({ uid }) => uid },
  },
  {
    sends: ['GET', '/v1/bdbs/{db}'],
    until: isActive,
    reads: {
      name: 'terraform',
      sharding: true,
      shards_count: 2,
      data_persistence: 'aof',
      aof_policy: 'appendfsync-every-sec',
      oss_cluster: false,
      shard_list: [expect.any(Number), expect.any(Number)],
      crdt: false,
    },
  },
  {
    sends: [
      'PUT',
      '/v1/bdbs/{db}',
      {
        name: 'terraform',
        memory_size: 67_108_864,
        sharding: true,
        shards_count: 2,
        data_persistence: 'aof',
        oss_cluster: false,
      },
    ],
    reads: { status: 'active' },
  },
  { sends: ['PUT', '/v1/bdbs/{db}', { memory_size: 134_217_728 }], reads: { memory_size: 134_217_728 } },
  { sends: ['GET', '/v1/bdbs/{db}'], until: isActive, reads: { memory_size: 134_217_728 } },
  {
    sends: ['PUT', '/v1/bdbs/{db}', { shards_count: 3 }],
    status: 400,
    reads: { message: expect.stringContaining('shards_count') },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'MSET {a}1 one {a}2 two' }],
    reads: { response: 'OK' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'MGET {a}1 {a}2' }],
    reads: { response: ['one', 'two'] },
  },
  { sends: ['POST', '/v1/bdbs/{db}/command', { command: 'DBSIZE' }], reads: { response: 2 } },
  {
    sends: [
      'POST',
      '/v1/bdbs',
      { name: 'terraform-oss', memory_size: 67_108_864, sharding: true, shards_count: 3, oss_cluster: true },
    ],
    reads: { oss_cluster: true, shards_count: 3 },
    keeps: { oss: ({ uid }) => uid },
  },
  { sends: ['GET', '/v1/bdbs/{oss}'], until: isActive, reads: { oss_cluster: true } },
  { sends: ['POST', '/v1/bdbs/{oss}/command', { command: 'SET a 1' }], reads: { response: 'OK' } },
  { sends: ['POST', '/v1/bdbs/{oss}/command', { command: 'SET b 2' }], reads: { response: 'OK' } },
  { sends: ['POST', '/v1/bdbs/{oss}/command', { command: 'SET c 3' }], reads: { response: 'OK' } },
  { sends: ['POST', '/v1/bdbs/{oss}/command', { command: 'GET b' }], reads: { response: '2' } },
  { sends: ['DELETE', '/v1/bdbs/{oss}'], reads: { uid: expect.any(Number) } },
  { sends: ['DELETE', '/v1/bdbs/{db}'], reads: { uid: expect.any(Number) } },
  { sends: ['GET', '/v1/bdbs?fields=uid'], until: (list: Json) => list.length === 0, reads: [] },
  { sends: ['DELETE', '/v1/bdbs/{db}'], status: 404, reads: { error_code: 'db_not_exist' } },
]
