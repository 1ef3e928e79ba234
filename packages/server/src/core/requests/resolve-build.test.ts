import { describe, expect, test } from 'vitest'
import type { Module } from '../modules/module.ts'
import { plainPolicy } from '../state/goal.ts'
import type { OfferedBuild } from './resolve-build.ts'
import { resolveDatabase } from './resolve-database.ts'
import { resolveUpgrade, type UpgradeRequest, type UpgradeSubject } from './resolve-upgrade.ts'
import { upgradableTo } from './upgrade-targets.ts'

/**
 * "valkey-8.1.1 crash", "valkey-8.1.1 A B": clients can end the engine, or run code through these holes, for
 * which the cluster refuses it.
 */
function build(text: string): OfferedBuild {
  const [name = '', ...holes] = text.split(' ')
  const [flavour = '', version = ''] = name.split('-')
  const isCrash = holes.includes('crash')
  return {
    flavour,
    version,
    refusedFor: isCrash ? [] : holes,
    holes: holes.map((id) => ({ id, what: '', reach: isCrash ? ('crash' as const) : ('code' as const) })),
  }
}

const traits = { replicas: 1, persistence: 'aof', evictionPolicy: 'noeviction', cluster: false } as const
const tally = { name: 'tally', semanticVersion: '1.0.0', sha256: '', uid: 'tally-1' } as const
const needs81: Module = {
  ...tally,
  displayName: 'Tally',
  version: 1,
  capabilityName: 'Tally',
  minEngineVersion: '8.1',
  capabilities: ['eviction_expiry', 'failover_migrate', 'persistence_aof', 'persistence_rdb', 'clustering'],
  compatibleEngineVersion: null,
  minEnginePackVersion: null,
  commandLineArgs: '',
  configCommand: '',
  commands: [],
  selfTest: [],
  moduleFile: '',
  author: '',
  email: '',
  description: '',
  homepage: '',
  license: '',
  featureSets: null,
  bigstoreVersion2: false,
  sizeBytes: 1,
  createdAt: '',
}
const plain: UpgradeRequest = {
  forceRestart: false,
  keepEngineVersion: false,
  latestWithModules: false,
  preserveRoles: false,
  swapRoles: false,
  engineVersion: undefined,
  mayDiscard: false,
  forceDiscard: false,
  policy: plainPolicy,
  modules: [],
}
const subjectOn = (name: string): UpgradeSubject => ({
  build: build(name),
  restartNonce: 0,
  modules: [],
  groups: 1,
  primaries: [1],
  ...traits,
  lackOfMemory: undefined,
  lackOfPorts: undefined,
})
function goes(subject: UpgradeSubject, request: Partial<UpgradeRequest>, names: readonly string[]) {
  const catalogue = { builds: names.map(build), modules: [needs81] }
  const resolved = resolveUpgrade({ ...plain, ...request }, subject, catalogue)
  if ('refused' in resolved) return resolved.refused
  const { flavour, version } = resolved.goal.build
  return `${flavour}-${version}`
}

describe('an upgrade that names a part of a version', () => {
  test.each([
    ['redis-7.2.10', 'valkey-7.2', ['redis-7.2.10', 'valkey-7.2.9', 'valkey-7.2.10'], 'valkey-7.2.10'],
    ['valkey-7.2.9', 'redis-7', ['valkey-7.2.9', 'redis-7.2.9', 'redis-7.4.2 crash'], 'redis-7.2.9'],
  ])(
    'from %s to %s may go to the version of another flavour that the database has of its own',
    (from, engineVersion, names, to) => {
      expect(goes(subjectOn(from), { engineVersion }, names)).toBe(to)
    },
  )

  test('goes to one that can take over the data, also where a build with fewer holes cannot', () => {
    const names = ['redict-7.3.0', 'redis-7.0.15', 'redis-7.2.10 crash']
    expect(goes(subjectOn('redict-7.3.0'), { engineVersion: 'redis-7' }, names)).toBe('redis-7.2.10')
    expect(goes(subjectOn('redict-7.3.0'), { engineVersion: 'redis-7.0' }, names)).toBe(
      'upgrade_path_unsupported',
    )
  })

  test('goes to one that its modules allow, also where a build with fewer holes is not allowed', () => {
    const subject = { ...subjectOn('redis-7.0.15'), modules: [{ ...tally, args: [] }] }
    const names = ['redis-7.0.15', 'valkey-8.0.1', 'valkey-8.1.1 crash']
    expect(goes(subject, { engineVersion: 'valkey-8' }, names)).toBe('valkey-8.1.1')
    expect(goes(subject, { engineVersion: 'valkey-8.0' }, names)).toBe('engine_incompatible_version')
  })
})

test('a new database that names a part of a version runs a build that its modules allow, of the same flavour', () => {
  const entry = { place: 'module_list[0]', name: 'tally', semanticVersion: undefined, args: undefined }
  const runs = (...names: readonly string[]) => {
    const request = { ...traits, engineVersion: '8', modules: [entry] as never }
    const resolved = resolveDatabase(request, names.map(build), [needs81])
    return 'refused' in resolved ? resolved.refused : resolved.build
  }
  expect(runs('valkey-8.0.1', 'valkey-8.1.1 crash')).toEqual({ flavour: 'valkey', version: '8.1.1' })
  expect(runs('valkey-8.0.1', 'redis-8.6.1')).toBe('engine_incompatible_version')
})

test('what changes nothing needs no room', () => {
  const crowded = {
    ...subjectOn('valkey-8.1.1'),
    replicas: 0,
    persistence: 'disabled',
    lackOfMemory: 'no room',
  } as const
  const builds = ['valkey-8.1.1', 'valkey-9.1.2']
  expect(goes(crowded, { keepEngineVersion: true }, builds)).toBe('valkey-8.1.1')
  expect(goes(crowded, { keepEngineVersion: true, forceRestart: true }, builds)).toBe(
    'upgrade_would_discard_data',
  )
})

describe('an upgrade without a version', () => {
  const subject = subjectOn('valkey-8.1.1 A')
  const names = ['valkey-8.1.1 A', 'valkey-9.1.2 B']

  test('stays on an insecure build where each newer one has further holes: it is the recommended one', () => {
    expect(upgradableTo(subject, { builds: names.map(build), modules: [] })).toBeUndefined()
    expect(goes(subject, {}, names)).toBe('valkey-8.1.1')
    expect(goes(subject, { forceRestart: true }, names)).toBe('valkey-8.1.1')
    expect(goes(subject, { engineVersion: '9' }, names)).toBe('insecure_version')
  })

  test('goes to the newest, as the specification says, also if that has holes and what it runs has none', () => {
    expect(goes(subjectOn('valkey-8.1.1'), {}, ['valkey-8.1.1', 'valkey-9.1.2 crash'])).toBe('valkey-9.1.2')
    const forced = goes(subjectOn('valkey-8.1.1'), { forceRestart: true }, ['valkey-8.1.1', 'valkey-9.1.2'])
    expect(forced).toBe('valkey-9.1.2')
  })
})
