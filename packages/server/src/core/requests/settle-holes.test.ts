import { describe, expect, test } from 'vitest'
import { plainPolicy } from '../state/goal.ts'
import type { OfferedBuild } from './settle-build.ts'
import { settleDatabase } from './settle-database.ts'
import { settleUpgrade, type UpgradeRequest, type UpgradeSubject } from './settle-upgrade.ts'

const build = (name: string, ...refusedFor: string[]): OfferedBuild => {
  const [flavour = '', version = ''] = name.split('-')
  return { flavour, version, refusedFor }
}

describe('a new database', () => {
  const settle = (engineVersion: string | undefined, builds: readonly OfferedBuild[]) => {
    const traits = { replicas: 0, persistence: 'aof', evictionPolicy: 'noeviction', cluster: false } as const
    const settled = settleDatabase({ ...traits, engineVersion, modules: [] }, builds, [])
    if ('refused' in settled) return settled
    return `${settled.build.flavour} ${settled.build.version}`
  }

  test.for([
    [undefined, ['valkey-8.1.1', 'valkey-9.0.2 CVE-1'], 'valkey 8.1.1'],
    ['8', ['valkey-8.0.9', 'valkey-8.1.1 CVE-1'], 'valkey 8.0.9'],
    [undefined, ['redis-7.0.15', 'valkey-8.0.1 CVE-1'], 'redis 7.0.15'],
  ] as const)('runs the newest sound build that fits: %s of %s', ([asked, names, chosen]) => {
    const builds = names.map((name) => build(...(name.split(' ') as [string])))
    expect(settle(asked, builds)).toBe(chosen)
  })

  test('does not run a build with known holes, and is told of the sound ones and of the way out', () => {
    const builds = [build('redis-7.0.15'), build('valkey-8.0.1', 'CVE-1', 'CVE-2'), build('valkey-8.1.1')]
    expect(settle('8.0.1', builds)).toEqual({
      refused: 'insecure_version',
      message: expect.stringMatching(
        /holes of valkey 8\.0\.1 \(CVE-1, CVE-2\).*sound here: redis 7\.0\.15, valkey 8\.1\.1\..*engines fetch valkey.*unsound_engines_allowed/,
      ),
    })
    expect(settle(undefined, [build('valkey-8.0.1', 'CVE-1')])).toMatchObject({
      refused: 'insecure_version',
      message: expect.stringContaining('no build here is without'),
    })
  })
})

describe('an upgrade', () => {
  const subject: UpgradeSubject = {
    ...{ build: { flavour: 'valkey', version: '8.0.1' }, restartNonce: 0, modules: [], groups: 1 },
    ...{ cluster: false, replicas: 1, persistence: 'aof', evictionPolicy: 'noeviction', primaries: [1] },
    ...{ lackOfMemory: undefined, lackOfPorts: undefined },
  }
  const plain: UpgradeRequest = {
    ...{ forceRestart: false, keepEngineVersion: false, latestWithModules: false, preserveRoles: false },
    ...{ swapRoles: false, engineVersion: undefined, mayDiscard: false, forceDiscard: false },
    ...{ policy: plainPolicy, modules: [] },
  }
  const settle = (request: Partial<UpgradeRequest>, ...builds: readonly OfferedBuild[]) => {
    const settled = settleUpgrade({ ...plain, ...request }, subject, { builds, modules: [] })
    return 'refused' in settled ? settled.refused : `${settled.change} ${settled.goal.build.version}`
  }
  const here = build('valkey-8.0.1', 'CVE-1', 'CVE-2')

  test('leads away from a build with holes, and to the newest sound one', () => {
    const others = [here, build('valkey-8.1.1'), build('valkey-9.0.2', 'CVE-3')]
    expect(settle({}, ...others)).toBe('true 8.1.1')
    expect(settle({ engineVersion: '9.0.2' }, ...others)).toBe('insecure_version')
  })

  test('is not refused for holes that the database has today', () => {
    expect(settle({ engineVersion: '8.1.1' }, here, build('valkey-8.1.1', 'CVE-2'))).toBe('true 8.1.1')
    expect(settle({ forceRestart: true, keepEngineVersion: true }, here)).toBe('true 8.0.1')
    expect(settle({}, here)).toBe('false 8.0.1')
  })

  test('does not lead back to an older build because that is sound', () => {
    expect(settle({}, build('valkey-7.2.12'), here)).toBe('false 8.0.1')
    expect(settle({ engineVersion: '7.2' }, build('valkey-7.2.12'), here)).toBe(
      'engine_downgrade_unsupported',
    )
  })
})
