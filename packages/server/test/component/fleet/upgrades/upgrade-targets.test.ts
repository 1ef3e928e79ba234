import { listUpgradeTargets, Refusal } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { fc } from '../../../../../../proof/properties.ts'
import type { Module } from '../../../../src/core/modules/module.ts'
import { plainPolicy, type UsedModule } from '../../../../src/core/state/goal.ts'
import { replicationPath } from '../../../../src/core/state/replication-paths.ts'
import { createUpgradeHints } from '../../../../src/fleet/upgrades/upgrade-hints.ts'
import { createUpgrades } from '../../../../src/fleet/upgrades/upgrades-service.ts'
import type { Mount } from '../../../../src/http/mount.ts'
import { upgradesRoutes } from '../../../../src/routes/fleet/upgrades-routes.ts'
import { databaseOf } from '../../../records.ts'
import { groupOf, noMemory, plenty } from '../../../simulation/group.ts'

const capabilities = [
  'eviction_expiry',
  'failover_migrate',
  'persistence_aof',
  'persistence_rdb',
  'clustering',
]
const moduleOf = (semanticVersion: string, but: Partial<Module> = {}): Module => ({
  uid: `tally-${semanticVersion}`,
  name: 'tally',
  displayName: 'Tally',
  semanticVersion,
  version: 1,
  capabilities,
  capabilityName: 'Tally',
  minEngineVersion: null,
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
  sha256: 'f'.repeat(64),
  sizeBytes: 1,
  createdAt: '',
  ...but,
})
const use = ({ uid, name, semanticVersion, sha256 }: Module): UsedModule => {
  return { uid, name, semanticVersion, sha256, args: [] }
}

const versions = {
  valkey: ['8.0.1', '8.1.1', '8.1.10', '9.1.2'],
  redis: ['6.0.16', '7.0.15', '8.0.2', '8.6.1'],
  redict: ['7.3.0'],
}
const aBuild = fc.constantFrom(
  ...Object.entries(versions).flatMap(([flavour, all]) => all.map((version) => ({ flavour, version }))),
)
const aModule = fc
  .record({
    semanticVersion: fc.constantFrom('1.0.0', '1.2.0', '2.0.0'),
    minEngineVersion: fc.constantFrom(null, null, '7.2', '8.1', '9.0'),
    minEnginePackVersion: fc.constantFrom(null, null, null, '99.0'),
    lacks: fc.constantFrom(undefined, undefined, ...capabilities),
  })
  .map(({ semanticVersion, lacks, ...but }) =>
    moduleOf(semanticVersion, { ...but, capabilities: capabilities.filter((one) => one !== lacks) }),
  )
const aWorld = fc.record({
  build: aBuild,
  builds: fc.uniqueArray(aBuild, { minLength: 1, selector: ({ flavour, version }) => flavour + version }),
  insecure: fc.uniqueArray(aBuild, { maxLength: 3, selector: ({ flavour, version }) => flavour + version }),
  modules: fc.uniqueArray(aModule, { maxLength: 3, selector: ({ uid }) => uid }),
  /** Index of a module in the catalogue; too large: one that has left it; negative: none. */
  used: fc.integer({ min: -2, max: 3 }),
  persistence: fc.constantFrom('disabled' as const, 'aof' as const, 'snapshot' as const),
  replicas: fc.constantFrom(0, 1),
  cluster: fc.boolean(),
  evictionPolicy: fc.constantFrom('noeviction', 'allkeys-lru'),
  hasMemory: fc.boolean(),
  hasPorts: fc.boolean(),
  isBusy: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
})
type World = (typeof aWorld extends fc.Arbitrary<infer T> ? T : never) & {
  /** Versions in which clients can end the engine. Absent: none. */
  readonly crashing?: readonly string[]
}

/** The service in a world of values: what it accepts is counted, and not carried out. */
function serviceIn(world: World) {
  const { used, modules: catalogue } = world
  const has = used < 0 ? [] : [use(catalogue[used] ?? moduleOf('0.9.0'))]
  const { build, persistence, replicas, cluster, evictionPolicy } = world
  const database = databaseOf({ build, modules: has, persistence, replicas, cluster, evictionPolicy })
  const action = { uid: 'a-1', kind: 'upgrade' }
  const view = { database, shards: [], action: world.isBusy ? action : undefined }
  const isInsecure = (one: World['build']) =>
    world.insecure.some(({ flavour, version }) => flavour === one.flavour && version === one.version)
  const builds = world.builds.map((one) => {
    const holes = world.crashing?.includes(one.version) ? [{ id: 'CVE-2', what: '', reach: 'crash' }] : []
    return { ...one, path: '', source: 'path', holes, refusedFor: isInsecure(one) ? ['CVE-1'] : [] }
  })
  const accepted: unknown[] = []
  const accept = async (_: number, change: unknown) => {
    accepted.push(change)
    return view
  }
  const lackOfPorts = world.hasPorts ? undefined : 'no port is free'
  const standing = async () => ({ standing: { database, shards: [], reservedBytes: 0, lackOfPorts } })
  const databases = { get: async () => view, standing, begin: accept, noteNothing: accept }
  const nodes = { builds: async () => builds, describe: async () => null }
  const seen = { groups: [{ ...groupOf(replicas), node: world.hasMemory ? plenty : noMemory }] }
  const deps = { databases, nodes, modules: { list: async () => catalogue }, look: async () => seen }
  const unused = { actions: {}, tryRuns: () => expect.fail('nothing is to be tried') }
  const hints = createUpgradeHints({ nodes, modules: deps.modules, now: () => 0 } as never)
  // The service uses no more of them than is here.
  return { upgrades: createUpgrades({ ...deps, ...unused } as never), hints, database, accepted }
}

const by = { uid: 1, name: 'admin', address: null }
function requestFor({ flavour, version }: World['build'], names: readonly string[]) {
  const nothing = { currentModule: undefined, currentVersion: undefined, newModule: undefined }
  return {
    forceRestart: false,
    keepEngineVersion: false,
    latestWithModules: false,
    preserveRoles: false,
    swapRoles: false,
    mayDiscard: false,
    forceDiscard: false,
    policy: plainPolicy,
    engineVersion: `${flavour}-${version}`,
    modules: names.map((moduleName, n) => {
      return { place: `modules[${n}]`, moduleName, ...nothing, newArgs: undefined }
    }),
  }
}

/** What the service answers to a request: the obstacles of its refusal, none where it accepts. */
async function ask({ upgrades, accepted }: ReturnType<typeof serviceIn>, request: object) {
  const before = accepted.length
  try {
    await upgrades.start(1, request as never, by)
  } catch (cause) {
    expect(cause).toBeInstanceOf(Refusal)
    expect(accepted).toHaveLength(before)
    const { code, message, obstacles } = cause as Refusal
    return obstacles ?? [{ code, message }]
  }
  expect(accepted).toHaveLength(before + 1)
  return []
}

test('of every database a build is a possible target if and only if an upgrade to it is accepted, and its obstacles are those of the refusal', async () => {
  let possible = 0
  let refused = 0
  const check = async (world: World) => {
    const service = serviceIn(world)
    const { targets, database } = await service.upgrades.targets(1)
    expect(targets).toHaveLength(world.builds.length)
    for (const { build, obstacles, withNewest } of targets) {
      for (const [told, names] of [
        [obstacles, []],
        [withNewest?.obstacles ?? obstacles, database.modules.map(({ name }) => name)],
      ] as const) {
        const heard = await ask(service, requestFor(build, names))
        const said = told.map(({ refused: code, message, field }) => ({ code, message, field }))
        // A request that is refused because of another change says nothing else.
        expect(heard).toEqual(world.isBusy ? said.slice(0, 1) : said)
        if (said.length === 0) possible += 1
        else refused += 1
      }
    }
  }
  await fc.assert(fc.asyncProperty(aWorld, check), { numRuns: 200 })
  expect(Math.min(possible, refused)).toBeGreaterThan(50)
})

test('a list names the recommended target: of all that would be accepted if there were room and no other change, the soundest, then its own flavour, then the newest, if it is better than the present build', async () => {
  let [own, other] = [0, 0]
  const check = async (world: World) => {
    const roomy = { ...world, hasMemory: true, hasPorts: true, isBusy: false }
    const [service, now] = [serviceIn(roomy), serviceIn(world)]
    const to = (await now.hints())?.(now.database)
    const { targets } = await service.upgrades.targets(1)
    const isIn = (builds: readonly World['build'][], { flavour, version }: World['build']) =>
      builds.some((one) => one.flavour === flavour && one.version === version)
    const harmOf = (build: World['build']) => Number(isIn(world.insecure, build) && isIn(world.builds, build))
    const rankOf = (build: World['build']) => [
      -harmOf(build),
      Number(build.flavour === world.build.flavour),
      ...build.version.split('.').map(Number),
    ]
    const open = targets.filter(
      ({ build, obstacles, isCurrent }) =>
        !isCurrent && obstacles.length === 0 && replicationPath(world.build, build).measured,
    )
    const [best] = open.map(({ build }) => build).toSorted((a, b) => compareRanks(rankOf(b), rankOf(a)))
    const isBetter =
      best !== undefined &&
      (harmOf(best) < harmOf(world.build) ||
        (harmOf(best) === harmOf(world.build) && compareVersions(best.version, world.build.version) > 0))
    expect(to).toEqual(isBetter ? best : null)
    if (to != null) to.flavour === world.build.flavour ? own++ : other++
    const recommended = (await now.upgrades.targets(1)).targets.filter(({ isRecommended }) => isRecommended)
    const expected = to ?? world.build
    expect(recommended.map(({ build }) => build)).toEqual(isIn(world.builds, expected) ? [expected] : [])
  }
  await fc.assert(fc.asyncProperty(aWorld, check), { numRuns: 300 })
  expect(Math.min(own, other)).toBeGreaterThan(5)
})

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, n) => value !== b[n])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

test.each([
  [
    'redis 7.0.15, beside a newer redis with a hole and two sound valkeys',
    '7.0.15',
    ['8.0.2'],
    'valkey 9.1.2',
  ],
  ['redis 7.0.15, beside a newer sound redis', '7.0.15', [], 'redis 8.0.2'],
  ['redis 8.0.2 with a hole, beside valkeys', '8.0.2', ['8.0.2'], 'valkey 9.1.2'],
  ['redis 8.0.2 without a hole, beside valkeys', '8.0.2', [], 'valkey 9.1.2'],
] as const)(
  '%s: the recommended target is sound, of its flavour if that has one',
  async (_, version, crashing, goal) => {
    const here = ['redis 7.0.15', 'redis 8.0.2', 'valkey 8.1.1', 'valkey 9.1.2'].map((name) => {
      const [flavour = '', of = ''] = name.split(' ')
      return { flavour, version: of }
    })
    const build = { flavour: 'redis', version }
    const service = serviceIn({ ...world, build, builds: here, modules: [], used: -1, crashing })
    const { flavour, version: of } = (await service.hints())?.(service.database) ?? build
    expect(`${flavour} ${of}`).toBe(goal)
  },
)

const world: World = {
  build: { flavour: 'valkey', version: '8.0.1' },
  builds: versions.valkey
    .map((version) => ({ flavour: 'valkey', version }))
    .concat({ flavour: 'redis', version: '7.0.15' }),
  insecure: [],
  modules: [moduleOf('1.0.0'), moduleOf('2.0.0', { minEngineVersion: '8.1' })],
  used: 0,
  persistence: 'aof',
  replicas: 1,
  cluster: false,
  evictionPolicy: 'noeviction',
  hasMemory: true,
  hasPorts: true,
  isBusy: false,
}

test.each([
  [['9.1.2'], '8.1.10'],
  [['9.1.2', '8.1.10', '8.1.1', '8.0.1'], '9.1.2'],
  [['8.1.10'], '9.1.2'],
] as const)(
  'the recommended target, to which an upgrade without a version goes, is not one in which clients can end the engine, if there is another: of %s, %s',
  async (crashing, version) => {
    const service = serviceIn({ ...world, crashing })
    const { targets } = await service.upgrades.targets(1)
    expect(targets.filter(({ isRecommended }) => isRecommended).map(({ build }) => build.version)).toEqual([
      version,
    ])
    expect((await service.hints())?.(service.database)).toMatchObject({ version })
    const { engineVersion: _, ...unnamed } = requestFor(world.build, [])
    expect(await ask(service, unnamed)).toEqual([])
    expect(service.accepted).toMatchObject([{ goal: { build: { version } } }])
  },
)

test('the answer has the flavour of the database first, each flavour from the newest, with the modules that each build allows', async () => {
  const { upgrades } = serviceIn(world)
  let answer: unknown
  const mount = (async (operation: unknown, handler: (input: object) => Promise<unknown>) => {
    if (operation === listUpgradeTargets) answer = handler({ params: { uid: 1 } })
  }) as unknown as Mount
  upgradesRoutes(mount, upgrades)
  const targets = (await answer) as readonly Record<string, unknown>[]
  expect(Value.Check(listUpgradeTargets.ok, targets)).toBe(true)
  expect(
    targets.map((one) => [
      one['engine'],
      one['engine_version'],
      one['newest'],
      one['recommended'],
      one['possible'],
    ]),
  ).toEqual([
    ['valkey', '9.1.2', true, true, true],
    ['valkey', '8.1.10', false, false, true],
    ['valkey', '8.1.1', false, false, true],
    ['valkey', '8.0.1', false, false, true],
    ['redis', '7.0.15', true, false, false],
  ])
  expect(targets.map((one) => one['modules'])).toMatchObject(
    ['2.0.0', '2.0.0', '2.0.0', '1.0.0', null].map((newest_version) => [
      { module_name: 'tally', semantic_version: '1.0.0', newest_version },
    ]),
  )
  expect(targets.at(-1)).toMatchObject({
    obstacles: [{ error_code: 'upgrade_path_unsupported', field: 'engine_version' }],
    with_newest_modules: { possible: false },
  })
  expect(targets.filter((one) => one['current'])).toMatchObject([{ engine_version: '8.0.1' }])
})

test('of a thousand databases with the same engine and modules the hint is computed once', async () => {
  const { hints, database } = serviceIn(world)
  const hint = await hints()
  let reads = 0
  const watched = (uid: number) =>
    new Proxy(databaseOf({ ...database, uid }), {
      get(target, name, receiver) {
        if (name === 'restartNonce') reads += 1 // by the rules only
        return Reflect.get(target, name, receiver) as unknown
      },
      ownKeys(target) {
        reads += 1 // to make a subject of the rules
        return Reflect.ownKeys(target)
      },
    })
  for (let uid = 1; uid <= 1_000; uid += 1)
    expect(hint?.(watched(uid))).toEqual({ flavour: 'valkey', version: '9.1.2' })
  expect(reads).toBeLessThan(10)
})

test('a list is answered without hints while the builds of the nodes are not known, and does not wait for an agent that is silent', async () => {
  const silent = { builds: () => new Promise<never>(() => undefined) }
  const away = { builds: () => Promise.reject(new Refusal('unavailable')) }
  for (const nodes of [silent, away]) {
    const hints = createUpgradeHints({ nodes, modules: { list: async () => [] }, now: () => 0 })
    expect(await hints()).toBeUndefined()
  }
})
