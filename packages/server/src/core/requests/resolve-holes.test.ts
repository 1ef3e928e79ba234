import { describe, expect, test } from 'vitest'
import { plainPolicy } from '../state/goal.ts'
import type { OfferedBuild } from './resolve-build.ts'
import { resolveDatabase } from './resolve-database.ts'
import { resolveUpgrade, type UpgradeRequest, type UpgradeSubject } from './resolve-upgrade.ts'

const build = (name: string, ...refusedFor: string[]): OfferedBuild => {
  const [flavour = '', version = ''] = name.split('-')
  return { flavour, version, refusedFor }
}

describe('a new database', () => {
  const resolve = (engineVersion: string | undefined, builds: readonly OfferedBuild[]) => {
    const traits = { replicas: 0, persistence: 'aof', evictionPolicy: 'noeviction', cluster: false } as const
    const resolved = resolveDatabase({ ...traits, engineVersion, modules: [] }, builds, [])
    if ('refused' in resolved) return resolved
    return `${resolved.build.flavour} ${resolved.build.version}`
  }

  test.for([
    [undefined, ['valkey-8.1.1', 'valkey-9.0.2 CVE-1'], 'valkey 8.1.1'],
    ['8', ['valkey-8.0.9', 'valkey-8.1.1 CVE-1'], 'valkey 8.0.9'],
    [undefined, ['redis-7.0.15', 'valkey-8.0.1 CVE-1'], 'redis 7.0.15'],
  ] as const)('runs the newest sound build that fits: %s of %s', ([asked, names, chosen]) => {
    const builds = names.map((name) => build(...(name.split(' ') as [string])))
    expect(resolve(asked, builds)).toBe(chosen)
  })

  // invariant: A build through whose holes clients run code gets no new database.
  test('does not run a build with known holes, and the refusal names the sound builds and the way out', () => {
    const builds = [build('redis-7.0.15'), build('valkey-8.0.1', 'CVE-1', 'CVE-2'), build('valkey-8.1.1')]
    expect(resolve('8.0.1', builds)).toMatchObject({
      refused: 'insecure_version',
      message: expect.stringMatching(
        /holes of valkey 8\.0\.1 \(CVE-1, CVE-2\).*sound here: redis 7\.0\.15, valkey 8\.1\.1\..*engines fetch valkey.*unsound_engines_allowed/,
      ),
    })
    expect(resolve(undefined, [build('valkey-8.0.1', 'CVE-1')])).toMatchObject({
      refused: 'insecure_version',
      message: expect.stringContaining('every build here has such holes'),
    })
  })
})

describe('an upgrade', () => {
  const subject: UpgradeSubject = {
    build: { flavour: 'valkey', version: '8.0.1' },
    restartNonce: 0,
    modules: [],
    groups: 1,
    cluster: false,
    replicas: 1,
    persistence: 'aof',
    evictionPolicy: 'noeviction',
    primaries: [1],
    lackOfMemory: undefined,
    lackOfPorts: undefined,
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
  const resolve = (request: Partial<UpgradeRequest>, ...builds: readonly OfferedBuild[]) => {
    const resolved = resolveUpgrade({ ...plain, ...request }, subject, { builds, modules: [] })
    return 'refused' in resolved ? resolved.refused : `${resolved.change} ${resolved.goal.build.version}`
  }
  const here = build('valkey-8.0.1', 'CVE-1', 'CVE-2')

  test('leads away from a build with holes, and to the newest sound one', () => {
    const others = [here, build('valkey-8.1.1'), build('valkey-9.0.2', 'CVE-3')]
    expect(resolve({}, ...others)).toBe('true 8.1.1')
    expect(resolve({ engineVersion: '9.0.2' }, ...others)).toBe('insecure_version')
  })

  test('is not refused for holes that the database has today', () => {
    expect(resolve({ engineVersion: '8.1.1' }, here, build('valkey-8.1.1', 'CVE-2'))).toBe('true 8.1.1')
    expect(resolve({ forceRestart: true, keepEngineVersion: true }, here)).toBe('true 8.0.1')
    expect(resolve({}, here)).toBe('false 8.0.1')
  })

  test('does not go back to an older build, although that one is sound', () => {
    expect(resolve({}, build('valkey-7.2.12'), here)).toBe('false 8.0.1')
    expect(resolve({ engineVersion: '7.2' }, build('valkey-7.2.12'), here)).toBe(
      'engine_downgrade_unsupported',
    )
  })
})
