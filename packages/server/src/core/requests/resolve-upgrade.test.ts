import { describe, expect, test } from 'vitest'
import { plainPolicy } from '../state/goal.ts'
import { replicationPath } from '../state/replication-paths.ts'
import { resolveBuild } from './resolve-build.ts'
import { resolveUpgrade, type UpgradeRequest, type UpgradeSubject } from './resolve-upgrade.ts'

const builds = (...names: string[]) =>
  names.map((name) => {
    const [flavour = '', version = ''] = name.split('-')
    return { flavour, version }
  })
const catalogue = builds('redis-7.0.15', 'redis-8.0.2', 'valkey-8.0.1', 'valkey-8.1.1', 'valkey-8.1.10')
const subject: UpgradeSubject = {
  build: { flavour: 'valkey', version: '8.0.1' },
  restartNonce: 4,
  modules: [],
  evictionPolicy: 'noeviction',
  replicas: 1,
  persistence: 'aof',
  groups: 1,
  cluster: false,
  primaries: [7],
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
const resolve = (request: Partial<UpgradeRequest>, of: Partial<UpgradeSubject> = {}) =>
  resolveUpgrade({ ...plain, ...request }, { ...subject, ...of }, { builds: catalogue, modules: [] })

describe('the target of an upgrade', () => {
  const targets: readonly (readonly [Partial<UpgradeRequest>, string])[] = [
    [{}, 'valkey 8.1.10'],
    [{ engineVersion: '8.1' }, 'valkey 8.1.10'],
    [{ engineVersion: '8.1.1' }, 'valkey 8.1.1'],
    [{ engineVersion: 'valkey-8' }, 'valkey 8.1.10'],
    [{ engineVersion: 'redis-8.0' }, 'redis 8.0.2'],
    [{ latestWithModules: true }, 'valkey 8.1.10'],
    [{ keepEngineVersion: true, forceRestart: true }, 'valkey 8.0.1'],
    [{ keepEngineVersion: true, engineVersion: '8.0' }, 'valkey 8.0.1'],
  ]
  for (const [request, target] of targets) {
    test(`is ${target} for ${JSON.stringify(request)}`, () => {
      const { goal } = resolve(request) as Extract<ReturnType<typeof resolve>, { goal: unknown }>
      expect(`${goal.build.flavour} ${goal.build.version}`).toBe(target)
    })
  }
})

test('a forced restart is a change although the build stays, and changes nothing else', () => {
  expect(resolve({ keepEngineVersion: true })).toMatchObject({ change: false })
  expect(resolve({ keepEngineVersion: true, forceRestart: true })).toMatchObject({
    change: true,
    goal: { restartNonce: 5, homes: [7], preserveRoles: false, replicas: 1, persistence: 'aof' },
  })
})

describe('an upgrade is refused', () => {
  const refusals: readonly (readonly [
    string,
    Partial<UpgradeRequest>,
    Partial<UpgradeSubject>,
    string,
    RegExp,
  ])[] = [
    [
      'to a build that is not installed',
      { engineVersion: '9.1' },
      {},
      'invalid_version',
      /valkey 9\.1 here\. There is: redis 7\.0\.15, /,
    ],
    [
      'to an older one',
      { engineVersion: '8.0' },
      { build: { flavour: 'valkey', version: '8.1.1' } },
      'engine_downgrade_unsupported',
      /older/,
    ],
    [
      'if replication cannot carry the data',
      { engineVersion: 'valkey-8.1' },
      { build: { flavour: 'redis', version: '8.0.2' } },
      'upgrade_path_unsupported',
      /RDB format 12/,
    ],
    [
      'if shards of both builds cannot be in one cluster',
      { engineVersion: 'redis-8.0' },
      { cluster: true, groups: 3 },
      'upgrade_path_unsupported',
      /shards of valkey 8\.0\.1 and redis 8\.0\.2 cannot be in one cluster/,
    ],
    [
      'if they cannot, also if the data may be discarded',
      { engineVersion: 'redis-8.0', forceDiscard: true },
      { cluster: true, groups: 3 },
      'upgrade_path_unsupported',
      /in one cluster/,
    ],
    [
      'when it asks to keep and to change the version',
      { keepEngineVersion: true, engineVersion: '8.1' },
      {},
      'conflicting_fields',
      /keep_engine_version/,
    ],
    [
      'when it asks for the latest and for another',
      { latestWithModules: true, engineVersion: '8.0' },
      {},
      'conflicting_fields',
      /latest_with_modules/,
    ],
  ]
  for (const [what, request, of, code, message] of refusals) {
    test(what, () =>
      expect(resolve(request, of)).toMatchObject({ refused: code, message: expect.stringMatching(message) }),
    )
  }

  test('with every obstacle at once, the first of them as the code', () => {
    expect(
      resolve({ preserveRoles: true, swapRoles: true, keepEngineVersion: true, engineVersion: '9.9' }),
    ).toMatchObject({
      refused: 'conflicting_fields',
      message: expect.stringMatching(/preserve_roles and swap_roles.*9\.9/),
    })
  })
})

describe('discarding', () => {
  const fleeting = { replicas: 0, persistence: 'disabled' } as const
  const discards = (request: Partial<UpgradeRequest>, of: Partial<UpgradeSubject>) => {
    const resolved = resolve({ engineVersion: '8.1', ...request }, of)
    return 'refused' in resolved ? resolved.refused : resolved.goal.discard
  }

  test('may_discard_data discards the data of a database that keeps nothing, and has no effect on any other', () => {
    expect(discards({ mayDiscard: true }, fleeting)).toBe(true)
    expect(discards({ mayDiscard: true }, { replicas: 1, persistence: 'disabled' })).toBe(false)
    expect(discards({ mayDiscard: true }, { replicas: 0, persistence: 'aof' })).toBe(false)
    expect(discards({}, fleeting)).toBe(false)
  })

  test('force_discard is for any database, also along a path that replication cannot take', () => {
    expect(discards({ forceDiscard: true }, {})).toBe(true)
    const elsewhere = { engineVersion: 'redis-7.0' }
    expect(discards(elsewhere, {})).toBe('upgrade_path_unsupported')
    expect(discards({ ...elsewhere, forceDiscard: true }, {})).toBe(true)
    expect(discards({ forceDiscard: true, preserveRoles: true }, {})).toBe('conflicting_fields')
  })

  test('without memory for a surge shard a database that keeps nothing could only be discarded', () => {
    const narrow = { ...fleeting, lackOfMemory: 'a surge shard needs 97 MB' }
    expect(resolve({ engineVersion: '8.1' }, narrow)).toMatchObject({
      refused: 'upgrade_would_discard_data',
      message: expect.stringMatching(/97 MB.*may_discard_data/),
    })
    expect(discards({ mayDiscard: true }, narrow)).toBe(true)
    expect(discards({}, { ...narrow, persistence: 'snapshot' })).toBe(false)
  })
})

describe('without memory for surge shards', () => {
  const valkey9 = { flavour: 'valkey', version: '9.1.2' } as const
  const full = { lackOfMemory: 'surge shards need 97 MB' }

  test('an upgrade in place to a build that does not read the files is refused before anything is begun', () => {
    const request = { engineVersion: 'redis-8.0' }
    expect(resolve(request, { ...full, build: valkey9 })).toMatchObject({
      refused: 'insufficient_resources',
      message: expect.stringMatching(/97 MB.*redis 8.0.2 does not read the files of valkey 9.1.2/),
    })
    expect(resolve(request, { build: valkey9 })).not.toHaveProperty('refused')
  })

  test('an upgrade in place of a replica on redis 6.0 is, too: the old primary could not be its standby', () => {
    const [request, build] = [{ engineVersion: 'valkey-8.1' }, { flavour: 'redis', version: '6.0.16' }]
    expect(resolve(request, { ...full, build, replicas: 1 })).toMatchObject({
      refused: 'insufficient_resources',
      message: expect.stringMatching(/97 MB.*redis 6.0.16 does not execute every command that valkey 8.1/),
    })
    const alone = { build, replicas: 0, persistence: 'aof' } as const
    for (const of of [
      { build, replicas: 1 },
      { ...full, ...alone },
    ])
      expect(resolve(request, of)).not.toHaveProperty('refused')
  })
})

describe('without ports for surge shards', () => {
  const crowded = { lackOfPorts: '3 port(s) are needed and 1 of 10000 to 10004 are free' }

  test('an upgrade is refused before anything is begun', () => {
    expect(resolve({ engineVersion: '8.1' }, crowded)).toMatchObject({
      refused: 'insufficient_resources',
      message: expect.stringMatching(/3 port.*1 of 10000 to 10004 are free/),
    })
  })

  test.each([
    ['a request that changes nothing', { keepEngineVersion: true }, crowded],
    ['one that begins empty', { engineVersion: '8.1', forceDiscard: true }, crowded],
    ['one in place, for lack of memory', { engineVersion: '8.1' }, { ...crowded, lackOfMemory: '97 MB' }],
  ])('%s needs none', (_, request, of) => {
    expect(resolve(request, of)).not.toHaveProperty('refused')
  })
})

describe('a new database', () => {
  test('gets the newest valkey, or another flavour if there is none', () => {
    expect(resolveBuild(undefined, null, catalogue)).toEqual({
      build: { flavour: 'valkey', version: '8.1.10' },
    })
    expect(resolveBuild(undefined, null, builds('redis-7.0.15'))).toEqual({
      build: { flavour: 'redis', version: '7.0.15' },
    })
    expect(resolveBuild('7.0', null, catalogue)).toEqual({ build: { flavour: 'redis', version: '7.0.15' } })
  })

  test('gets redis where the words of the request ask for it, and a sound build of it fits', () => {
    const both = builds('valkey-8.0.1', 'redis-8.0.2', 'redis-7.0.15')
    const redis = { build: { flavour: 'redis', version: '8.0.2' } }
    expect(resolveBuild('8.0', null, both, 'redis')).toEqual(redis)
    expect(resolveBuild(undefined, null, both, 'redis')).toEqual(redis)
    const valkey = { build: { flavour: 'valkey', version: '8.0.1' } }
    expect(resolveBuild('valkey-8.0', null, both, 'redis')).toEqual(valkey)
    const unsound = both.map((build) =>
      build.flavour === 'redis' ? { ...build, refusedFor: ['a-hole'] } : build,
    )
    expect(resolveBuild('8.0', null, unsound, 'redis')).toEqual(valkey)
    expect(resolveBuild('8.0', null, builds('valkey-8.0.1'), 'redis')).toEqual(valkey)
  })

  test('is refused if there is no build, and the message says how to get one', () => {
    expect(resolveBuild(undefined, null, [])).toMatchObject({
      message: expect.stringContaining('fairlead engines fetch'),
    })
  })
})

test('what replication can carry is what was measured', () => {
  const can = (from: string, to: string) => {
    const [one, other] = builds(from, to)
    return one !== undefined && other !== undefined && replicationPath(one, other).obstacle === undefined
  }
  for (const [from, to] of [
    ['redis-6.0.16', 'valkey-9.1.2'],
    ['redis-7.0.15', 'redis-8.6.3'],
    ['valkey-8.1.1', 'redis-8.0.2'],
    ['valkey-9.1.2', 'redict-7.3.6'],
    ['redict-7.3.6', 'redis-8.0.6'],
  ] as const) {
    expect(can(from, to), `${from} → ${to}`).toBe(true)
  }
  for (const [from, to] of [
    ['redis-8.0.2', 'valkey-8.1.1'],
    ['valkey-8.0.1', 'redis-7.0.15'],
    ['redis-8.6.3', 'redis-8.0.6'],
    ['redict-7.3.6', 'valkey-8.1.1'],
    ['redis-7.0.15', 'redis-6.0.16'],
  ] as const) {
    expect(can(from, to), `${from} → ${to}`).toBe(false)
  }
})
