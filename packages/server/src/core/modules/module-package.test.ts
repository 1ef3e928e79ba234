import { describe, expect, test } from 'vitest'
import { versionNumber } from './module.ts'
import { readManifest } from './module-package.ts'

const plain = {
  module_name: 'tally',
  semantic_version: '1.2.0',
  capabilities: ['types', 'persistence_rdb'],
  module_file: 'tally.so',
}
const read = (change: object = {}) => readManifest({ ...plain, ...change }, 'x64')

test('four fields are enough, and the others get their defaults', () => {
  expect(read()).toEqual({
    sha256: null,
    manifest: {
      name: 'tally',
      displayName: 'tally',
      semanticVersion: '1.2.0',
      version: 10_200,
      capabilities: ['types', 'persistence_rdb'],
      capabilityName: 'tally',
      minEngineVersion: null,
      compatibleEngineVersion: null,
      minEnginePackVersion: null,
      commandLineArgs: '',
      configCommand: '',
      commands: [],
      selfTest: [],
      moduleFile: 'tally.so',
      author: '',
      email: '',
      description: '',
      homepage: '',
      license: '',
      featureSets: null,
      bigstoreVersion2: false,
    },
  })
})

test('packages of other tools are read, also with fields that Fairlead does not know', () => {
  const found = read({
    architecture: 'x86_64',
    os: 'rhel8',
    operating_systems: ['Linux'],
    version: 10_200,
    min_redis_version: '7.2',
    min_redis_pack_version: '5.2',
    compatible_redis_version: '7.4',
    commands: [
      { command_name: 'tally.add', command_arity: -2, first_key: 1, last_key: 1, step: 1, flags: ['write'] },
    ],
    sha256: 'AB'.repeat(32),
    crdb: { supported_featureset_versions: [1, 8] },
    bigstore_version_2_support: true,
    dependencies: {},
    ramp_format_version: 1,
    git_sha: 'x',
  })
  expect(found).toMatchObject({
    sha256: 'ab'.repeat(32),
    manifest: {
      minEngineVersion: '7.2',
      minEnginePackVersion: '5.2',
      compatibleEngineVersion: '7.4',
      commands: [{ name: 'tally.add', arity: -2, firstKey: 1, lastKey: 1, step: 1, flags: ['write'] }],
      featureSets: [1, 8],
      bigstoreVersion2: true,
    },
  })
})

test('versions may be written in Fairlead’s field, or in both fields if they agree', () => {
  for (const change of [
    { min_engine_version: '7.2' },
    { min_engine_version: '7.2', min_redis_version: '7.2' },
  ]) {
    expect(read(change)).toMatchObject({ manifest: { minEngineVersion: '7.2' } })
  }
})

test('a self-test keeps its replies, and null is a reply', () => {
  const steps = [
    { command: ['PING'], reply: 'PONG' },
    { command: ['GET', 'a'], reply: null },
    { command: ['X'] },
  ]
  const found = read({ self_test: steps })
  expect('manifest' in found && found.manifest.selfTest).toEqual(steps)
})

describe('a package is refused with the field and the fix', () => {
  const wrong: readonly (readonly [object, string | RegExp])[] = [
    [{ module_name: undefined }, 'module_name: is missing'],
    [{ module_name: 7 }, 'module_name: must be the name'],
    [{ module_name: '../x' }, 'module_name: must be the name'],
    [{ semantic_version: undefined }, 'semantic_version: is missing; it must be major.minor.patch'],
    [{ semantic_version: '1.2' }, 'semantic_version: must be major.minor.patch'],
    [{ semantic_version: '1.2.100' }, 'semantic_version: must be major.minor.patch, the last two below 100'],
    [{ version: 10_201 }, 'version: 10201 contradicts semantic_version 1.2.0, which is 10200'],
    [{ version: '10200' }, 'version: "10200" contradicts'],
    [{ capabilities: undefined }, 'capabilities: is missing'],
    [{ capabilities: 'types' }, 'capabilities: must be a list of texts'],
    [{ module_file: undefined }, 'module_file: is missing'],
    [{ module_file: '../../etc/x.so' }, 'module_file: must be the name of a file at the root'],
    [{ module_file: 'module.json' }, 'module_file: must be the name of a file at the root'],
    [{ min_redis_version: '7.2', min_engine_version: '7.4' }, 'contradicts min_redis_version, which is 7.2'],
    [{ min_redis_version: 'new' }, 'min_redis_version: must be a version'],
    [{ command_line_args: ['a'] }, 'command_line_args: must be one line of text'],
    [{ command_line_args: 'a\nb' }, 'command_line_args: must be one line of text'],
    [{ commands: {} }, 'commands: must be a list'],
    [{ commands: [{ command_name: 'x' }] }, 'commands: must be a list'],
    [{ self_test: [{ command: [] }] }, 'self_test: must be a list'],
    [{ self_test: [{ command: ['a'], answer: 1 }] }, 'self_test: must be a list'],
    [
      { self_test: Array.from({ length: 17 }, () => ({ command: ['PING'] })) },
      'self_test: must have at most 16',
    ],
    [{ sha256: 'abc' }, 'sha256: must be 64 hexadecimal digits'],
    [{ architecture: 'aarch64' }, 'architecture: aarch64 is not what the nodes are (x64)'],
    [{ crdb: [] }, 'crdb: must be {}'],
    [{ bigstore_version_2_support: 'yes' }, 'bigstore_version_2_support: must be true or false'],
  ]
  for (const [change, message] of wrong) {
    test(JSON.stringify(change).slice(0, 80), () => {
      const found = read(change)
      expect(found).toMatchObject({
        refused: 'invalid_module',
        message: expect.stringContaining(String(message)),
      })
    })
  }

  test('all of them at once', () => {
    expect(readManifest({}, 'x64')).toMatchObject({
      message: expect.stringMatching(/module_name.*semantic_version.*capabilities.*module_file/),
    })
    for (const json of [null, [], 'x', 7]) expect(readManifest(json, 'x64')).toHaveProperty('refused')
  })

  test('another system, and dependencies, with their own codes', () => {
    expect(read({ os: 'Darwin' })).toHaveProperty('refused', 'os_not_supported')
    expect(read({ operating_systems: ['windows', 'macos'] })).toHaveProperty('refused', 'os_not_supported')
    expect(read({ operating_systems: ['macos', 'Linux'] })).toHaveProperty('manifest')
    expect(read({ dependencies: { gears_python: { url: 'x' } } })).toMatchObject({
      refused: 'dependencies_not_supported',
      message: expect.stringContaining('gears_python'),
    })
  })
})

test('a version is one number', () => {
  expect(['2.8.7', '1.2.1', '0.0.0', '12.99.99'].map(versionNumber)).toEqual([20_807, 10_201, 0, 129_999])
  expect(['1', '1.2', '1.2.3.4', 'v1.2.3', '1.2.3-rc1', '1.02.3', ''].map(versionNumber)).toEqual(
    Array.from({ length: 7 }, () => null),
  )
})
