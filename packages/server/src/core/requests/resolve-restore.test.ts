import type { NodeBackup } from '@fairlead/api'
import { expect, test } from 'vitest'
import { canRead, resolveRestore } from './resolve-restore.ts'

/** Measured: each file was loaded in each engine. */
const engines: readonly string[] = [
  ...['redis 6.0.16', 'redis 7.0.15', 'redis 8.0.6', 'redis 8.6.3'],
  ...['valkey 8.0.1', 'valkey 8.1.1', 'valkey 9.1.2', 'redict 7.3.6'],
]
const measured = [
  ['redis 6.0.16', 'REDIS0009', engines],
  ['redis 7.0.15', 'REDIS0010', engines.slice(1)],
  ['valkey 8.0.1', 'REDIS0011', engines.slice(2)],
  ['valkey 8.1.1', 'REDIS0011', engines.slice(2)],
  ['valkey 9.1.2', 'VALKEY080', ['valkey 9.1.2']],
  ['redis 8.0.6', 'REDIS0012', ['redis 8.0.6', 'redis 8.6.3', 'redict 7.3.6']],
  ['redict 7.3.6', 'REDIS0012', ['redis 8.0.6', 'redis 8.6.3', 'redict 7.3.6']],
  ['redis 8.6.3', 'REDIS0013', ['redis 8.6.3']],
] satisfies readonly (readonly [string, string, readonly string[]])[]

test.for(measured)(
  'a file of %s (%s) is read by the engines that have read it',
  ([writer, format, readers]) => {
    const reads = engines.filter((engine) => canRead(buildOf(engine), buildOf(writer), format))
    expect(reads).toEqual(engines.filter((engine) => readers.includes(engine)))
  },
)

test('without a version, the build of the backup is chosen, or another one of its flavour', () => {
  const own = resolve({}, ['valkey 8.1.1', 'valkey 9.1.2', 'redis 8.0.6'])
  expect(own).toMatchObject({ engineVersion: 'valkey-8.1.1', seeds: [{ backup: 'b', group: 0 }] })
  const newer = resolve({}, ['valkey 9.1.2', 'redis 8.0.6'])
  expect(newer).toMatchObject({ engineVersion: undefined, preferredFlavour: 'valkey' })
  expect(resolve({}, ['redis 7.0.15'])).toMatchObject({
    refused: 'backup_not_readable',
    obstacles: [{ field: 'from_backup' }],
  })
})

test('a build that cannot read the file is refused, and the message names those that can', () => {
  const builds = ['valkey 8.1.1', 'redis 7.0.15', 'redis 8.0.6']
  expect(resolve({ engineVersion: 'redis-7.0' }, builds)).toEqual({
    refused: 'backup_not_readable',
    message:
      'engine_version: redis 7.0.15 cannot read backup b (REDIS0011 of valkey 8.1.1); builds here that can: valkey 8.1.1, redis 8.0.6',
    obstacles: [expect.objectContaining({ field: 'engine_version' })],
  })
  expect(resolve({ engineVersion: 'redis-8' }, builds)).toMatchObject({ engineVersion: 'redis-8' })
})

test('every obstacle of the shape is named', () => {
  const wrong = { groups: 2, cluster: true, memoryBytes: 1_999 }
  const elsewhere = { databases: [{ number: 3, keys: 1, expires: 0 }] }
  const refused = resolve(wrong, ['valkey 8.1.1'], elsewhere, [{ name: 'tally', semanticVersion: '1.0.0' }])
  expect(refused).toMatchObject({
    obstacles: [
      { refused: 'backup_not_readable', field: 'shards_count' },
      { refused: 'backup_not_readable', field: 'sharding' },
      { refused: 'memory_size_too_small', field: 'memory_size' },
      { refused: 'missing_module', field: 'module_list' },
    ],
  })
})

function buildOf(name: string) {
  const [flavour = '', version = ''] = name.split(' ')
  return { flavour, version }
}

function resolve(
  wanted: Partial<Parameters<typeof resolveRestore>[0]>,
  builds: readonly string[],
  data: Partial<NodeBackup['groups'][number]['data']> = {},
  modules: NodeBackup['database']['modules'] = [],
) {
  const request = { engineVersion: undefined, groups: 1, cluster: false, memoryBytes: 0, ...wanted }
  return resolveRestore(request, backupOf(data, modules), builds.map(buildOf), [])
}

function backupOf(
  data: Partial<NodeBackup['groups'][number]['data']>,
  modules: NodeBackup['database']['modules'],
): NodeBackup {
  return {
    manifest: 1,
    name: 'b',
    state: 'done',
    why: '',
    startedAt: 1,
    provedAt: 2,
    bytes: 100,
    database: {
      uid: 1,
      name: 'orders',
      build: buildOf('valkey 8.1.1'),
      cluster: false,
      clientsKnowShards: false,
      replicas: 1,
      memoryBytes: 0,
      persistence: 'aof',
      aofFsync: 'everysec',
      snapshots: [],
      evictionPolicy: 'noeviction',
      tls: false,
      modules,
    },
    groups: [
      {
        number: 0,
        slots: { first: 0, last: 16_383 },
        shard: 's1',
        format: 'REDIS0011',
        bytes: 100,
        sha256: '0'.repeat(64),
        replid: '0'.repeat(40),
        offset: 1,
        data: { keysInFile: 1, databases: [], functions: 0, memoryBytes: 2_000, ...data },
      },
    ],
  }
}
