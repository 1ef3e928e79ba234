import { type TallyVersion, testModule } from './build-modules.ts'
import { commandOnKey, commonFields, type ModulePackage, sha256Of } from './module-package.ts'

/**
 * The module.json of our own test module in this version, with `changes`; a change to undefined leaves the
 * field out of the JSON. It covers every capability but flash and active-active. Its self-test leaves no key
 * behind.
 */
export async function tallyPackage(
  version: TallyVersion,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<ModulePackage> {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const commands = [
    commandOnKey('TALLY.ADD', 'write', 'denyoom', 'fast'),
    commandOnKey('TALLY.GET', 'readonly', 'fast'),
  ]
  const newCommands = [
    commandOnKey('TALLY.NAME', 'write', 'denyoom', 'fast'),
    commandOnKey('TALLY.NAMEOF', 'readonly', 'fast'),
  ]
  return {
    ...commonFields,
    module_name: 'tally',
    display_name: 'Tally',
    description: 'Sums with names, to test with',
    version: major * 10_000 + minor * 100 + patch,
    semantic_version: version,
    capabilities,
    commands: major >= 2 ? [...commands, ...newCommands] : commands,
    module_file: `tally-${version}.so`,
    sha256: await sha256Of(await testModule(version)),
    self_test: [
      { command: ['TALLY.ADD', 'fairlead-self-test', '1'], reply: 1 },
      { command: ['TALLY.GET', 'fairlead-self-test'], reply: 1 },
      { command: ['DEL', 'fairlead-self-test'], reply: 1 },
    ],
    ...changes,
  }
}

const capabilities = [
  ...['types', 'no_multi_key', 'replica_of', 'backup_restore', 'eviction_expiry', 'reshard_rebalance'],
  ...['failover_migrate', 'persistence_aof', 'persistence_rdb', 'hash_policy', 'clustering'],
  ...['intershard_tls', 'intershard_tls_pass', 'ipv6'],
]
