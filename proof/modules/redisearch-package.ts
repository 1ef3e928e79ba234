import { commandOnKey, commonFields, type ModulePackage, sha256Of } from './module-package.ts'
import { testRedisearch } from './redisearch.ts'

/**
 * The module.json of Debian's RediSearch, which calls itself `ft` and, to engines, 10200 where it should be
 * 10202. Its self-test uses the command that hangs Valkey from 8.1 on, and leaves nothing behind. Throws when
 * the module is missing: call testRedisearch first.
 */
export async function redisearchPackage(
  changes: Readonly<Record<string, unknown>> = {},
): Promise<ModulePackage> {
  const file = await testRedisearch()
  if (file === null) throw new Error('RediSearch is not there: the set-up of npm test fetches it')
  return {
    ...commonFields,
    module_name: 'ft',
    display_name: 'RediSearch',
    description: 'Full-text search, as Debian packages it',
    author: 'Redis Labs',
    license: 'AGPL-3.0',
    version: 10_202,
    semantic_version: '1.2.2',
    capabilities,
    commands: [
      ...writing.map((name) => commandOnKey(name, 'write')),
      ...adding.map((name) => commandOnKey(name, 'write', 'denyoom')),
      ...reading.map((name) => commandOnKey(name, 'readonly')),
      { ...commandOnKey('FT.CURSOR', 'readonly'), first_key: 2, last_key: 2 },
      { ...commandOnKey('FT.MGET', 'readonly'), first_key: 0, last_key: 0, step: 0 },
    ],
    module_file: 'redisearch.so',
    sha256: await sha256Of(file),
    self_test: [
      { command: ['FT.CREATE', index, 'SCHEMA', 'title', 'TEXT'], reply: 'OK' },
      { command: ['FT.ADD', index, document, '1.0', 'FIELDS', 'title', 'hello world'], reply: 'OK' },
      { command: ['FT.SEARCH', index, 'hello', 'NOCONTENT'], reply: [1, document] },
      // The document goes with its index.
      { command: ['FT.DROP', index], reply: 'OK' },
    ],
    ...changes,
  }
}

const index = 'fairlead-self-test'
const document = 'fairlead-self-test:1'

/** Not `clustering`: an index and its documents are keys of different slots. */
const capabilities = [
  ...['types', 'replica_of', 'backup_restore', 'failover_migrate', 'persistence_aof', 'persistence_rdb'],
  ...['intershard_tls', 'intershard_tls_pass', 'ipv6'],
]

const writing = [
  'FT.ALTER',
  'FT.DEL',
  'FT.DROP',
  'FT.SUGDEL',
  'FT.SYNADD',
  'FT.SYNFORCEUPDATE',
  'FT.SYNUPDATE',
]
const adding = [
  ...['FT.ADD', 'FT.ADDHASH', 'FT.CREATE', 'FT.OPTIMIZE', 'FT.SAFEADD', 'FT.SAFEADDHASH', 'FT.SETPAYLOAD'],
  'FT.SUGADD',
]
const reading = [
  ...['FT.AGGREGATE', 'FT.DEBUG', 'FT.EXPLAIN', 'FT.GET', 'FT.INFO', 'FT.SEARCH', 'FT.SUGGET', 'FT.SUGLEN'],
  ...['FT.SYNDUMP', 'FT.TAGVALS'],
]
