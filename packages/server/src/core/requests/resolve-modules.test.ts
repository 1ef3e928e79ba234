import { describe, expect, test } from 'vitest'
import { joinArgs, type Module, splitArgs } from '../modules/module.ts'
import type { UsedModule } from '../state/goal.ts'
import {
  type ModuleEntry,
  type ModuleInputs,
  type NewModuleEntry,
  resolveModules,
  resolveNewModules,
} from './resolve-modules.ts'

const everything = ['eviction_expiry', 'failover_migrate', 'persistence_aof', 'persistence_rdb', 'clustering']

function module(uid: string, semanticVersion: string, change: Partial<Module> = {}): Module {
  return {
    uid,
    name: 'tally',
    displayName: 'Tally',
    semanticVersion,
    version: 0,
    capabilities: everything,
    capabilityName: 'Tally',
    minEngineVersion: null,
    compatibleEngineVersion: null,
    minEnginePackVersion: null,
    commandLineArgs: 'STEP 5',
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
    sha256: `hash-${uid}`,
    sizeBytes: 1,
    createdAt: '',
    ...change,
  }
}

const catalogue = [
  module('a1', '1.0.0'),
  module('a2', '1.2.0'),
  module('a3', '2.0.0', { minEngineVersion: '9.0' }),
  module('b1', '1.0.0', { name: 'other' }),
]
const traits = { replicas: 1, persistence: 'aof', cluster: true, evictionPolicy: 'allkeys-lru' } as const
const scene: ModuleInputs = { build: { flavour: 'valkey', version: '8.1.1' }, traits, catalogue }
const tally: UsedModule = {
  uid: 'a1',
  name: 'tally',
  semanticVersion: '1.0.0',
  sha256: 'hash-a1',
  args: ['STEP', '2'],
}
const entry = (change: Partial<ModuleEntry>): ModuleEntry => ({
  place: 'modules[0]',
  currentModule: undefined,
  moduleName: undefined,
  currentVersion: undefined,
  newModule: undefined,
  newArgs: undefined,
  ...change,
})
const resolve = (entries: readonly Partial<ModuleEntry>[], of: Partial<ModuleInputs> = {}, latest = false) =>
  resolveModules([tally], entries.map(entry), latest, { ...scene, ...of })

describe('a module of a database', () => {
  const upgrades: readonly (readonly [string, Partial<ModuleEntry>, Partial<UsedModule>])[] = [
    [
      'is named by its uid',
      { currentModule: 'a1', newModule: 'a2' },
      { uid: 'a2', semanticVersion: '1.2.0' },
    ],
    [
      'is named by its name and version',
      { moduleName: 'tally', currentVersion: '1.0.0', newModule: 'a2' },
      { uid: 'a2' },
    ],
    [
      'is named in both ways',
      { currentModule: 'a1', moduleName: 'tally', newModule: 'a2' },
      { sha256: 'hash-a2' },
    ],
    [
      'rises to the newest version that the engine allows, when none is named',
      { moduleName: 'tally' },
      { uid: 'a2' },
    ],
    [
      'keeps its arguments when none are sent',
      { currentModule: 'a1', newModule: 'a2' },
      { args: ['STEP', '2'] },
    ],
    [
      'loses them when an empty list is sent',
      { currentModule: 'a1', newModule: 'a1', newArgs: [] },
      { args: [] },
    ],
    [
      'may stay and get other arguments',
      { currentModule: 'a1', newModule: 'a1', newArgs: ['STEP', '9'] },
      { uid: 'a1', args: ['STEP', '9'] },
    ],
  ]
  for (const [what, asked, expected] of upgrades) {
    test(what, () => expect(resolve([asked])).toMatchObject({ modules: [expected] }))
  }

  test('stays when the request does not name it, and rises when the latest is asked for', () => {
    expect(resolve([])).toEqual({ modules: [tally], passedOver: [] })
    expect(resolve([], {}, true)).toMatchObject({ modules: [{ uid: 'a2', args: ['STEP', '2'] }] })
    expect(resolve([], { build: { flavour: 'valkey', version: '9.1.2' } }, true)).toMatchObject({
      modules: [{ uid: 'a3' }],
    })
  })

  test.for([
    ['latest_with_modules', [], true],
    ['an entry without new_module', [{ moduleName: 'tally' }], false],
  ] as const)(
    'rises to the newest version that fits, and newer ones are named: %s',
    ([, entries, latest]) => {
      const lacking = module('a5', '3.0.0', { capabilities: ['eviction_expiry'] })
      const strange = module('a4', '2.5.0', { minEnginePackVersion: '99.0.0' })
      const resolved = resolve(entries, { catalogue: [...catalogue, strange, lacking] }, latest)
      expect(resolved).toMatchObject({
        modules: [{ uid: 'a2', semanticVersion: '1.2.0' }],
        passedOver: [
          expect.stringMatching(/^tally 3\.0\.0 lacks failover_migrate/),
          expect.stringMatching(/^tally 2\.5\.0 needs cluster software 99\.0\.0/),
          expect.stringMatching(/^tally 2\.0\.0 needs engine version 9\.0/),
        ],
      })
    },
  )

  test('stays on its version when no newer one fits, also if the database has changed since', () => {
    const own = module('a1', '1.0.0', { capabilities: [] })
    const lacking = module('a5', '3.0.0', { capabilities: [] })
    expect(resolve([], { catalogue: [own, lacking] }, true)).toMatchObject({
      modules: [tally],
      passedOver: [expect.stringMatching(/^tally 3\.0\.0 lacks/)],
    })
  })
})

describe('an upgrade of modules is refused', () => {
  const refusals: readonly (readonly [
    string,
    Partial<ModuleEntry>,
    Partial<ModuleInputs>,
    string,
    RegExp,
  ])[] = [
    ['when an entry names none', { newModule: 'a2' }, {}, 'invalid_request', /modules\[0\].*current_module/],
    [
      'when the two ways of naming it disagree',
      { currentModule: 'a1', moduleName: 'other' },
      {},
      'conflicting_fields',
      /tally.*other/,
    ],
    [
      'when the database has another version',
      { moduleName: 'tally', currentVersion: '0.9.0' },
      {},
      'invalid_request',
      /0\.9\.0.*1\.0\.0/,
    ],
    [
      'when the database does not have it',
      { moduleName: 'other' },
      {},
      'invalid_request',
      /does not have other.*tally 1\.0\.0 \(a1\)/,
    ],
    [
      'when the new one is another module',
      { currentModule: 'a1', newModule: 'b1' },
      {},
      'invalid_request',
      /no version of tally/,
    ],
    ['when the current one is unknown', { currentModule: '77' }, {}, 'missing_module', /no module 77/],
    [
      'when the new one is unknown',
      { currentModule: 'a1', newModule: 'zz' },
      {},
      'missing_module',
      /new_module.*zz/,
    ],
    [
      'when it would be an older one',
      { currentModule: 'a1', newModule: 'a0' },
      { catalogue: [...catalogue, module('a0', '0.9.0')] },
      'module_downgrade_unsupported',
      /0\.9\.0 is older than the 1\.0\.0/,
    ],
    [
      'when the engine is too old for it',
      { currentModule: 'a1', newModule: 'a3' },
      {},
      'engine_incompatible_version',
      /9\.0.*valkey 8\.1\.1/,
    ],
    [
      'when this Fairlead is too old for it',
      { currentModule: 'a1', newModule: 'a4' },
      { catalogue: [...catalogue, module('a4', '3.0.0', { minEnginePackVersion: '99.0' })] },
      'engine_pack_incompatible_version',
      /99\.0/,
    ],
    [
      'when it lacks capabilities that the database needs, each with its reason',
      { currentModule: 'a1', newModule: 'a5' },
      { catalogue: [...catalogue, module('a5', '3.0.0', { capabilities: ['eviction_expiry'] })] },
      'unsupported_module_capabilities',
      /failover_migrate \(the database has replication\), persistence_aof \(.*aof\), clustering \(.*sharding\)/,
    ],
  ]
  test('when engine and Fairlead are too old for it, and both are named', () => {
    const tooNew = module('a4', '3.0.0', { minEngineVersion: '9.0', minEnginePackVersion: '99.0' })
    const asked = { currentModule: 'a1', newModule: 'a4' }
    const obstacles = [
      {
        refused: 'engine_incompatible_version',
        field: 'modules[0]',
        message: expect.stringContaining('9.0'),
      },
      {
        refused: 'engine_pack_incompatible_version',
        field: 'modules[0]',
        message: expect.stringContaining('99.0'),
      },
    ]
    expect(resolve([asked], { catalogue: [...catalogue, tooNew] })).toEqual({ obstacles })
  })

  for (const [what, asked, of, code, message] of refusals) {
    test(what, () => {
      const resolved = resolve([asked], of)
      expect(resolved).toMatchObject({
        obstacles: [{ refused: code, message: expect.stringMatching(message) }],
      })
    })
  }

  test('when an entry names a module a second time', () => {
    expect(resolve([{ moduleName: 'tally' }, { currentModule: 'a1' }])).toMatchObject({
      obstacles: [{ refused: 'conflicting_fields' }],
    })
  })

  test('with the obstacles in the order of the rules, not of the entries', () => {
    const late = module('c2', '0.1.0', { name: 'other', minEngineVersion: '99' })
    const used = { ...tally, uid: 'b1', name: 'other' }
    const entries = [
      entry({ moduleName: 'tally', newModule: 'a3' }),
      entry({ place: 'modules[1]', moduleName: 'other', newModule: 'c2' }),
    ]
    const resolved = resolveModules([tally, used], entries, false, {
      ...scene,
      catalogue: [...catalogue, late],
    })
    expect(resolved).toMatchObject({
      obstacles: [
        { refused: 'module_downgrade_unsupported' },
        { refused: 'engine_incompatible_version' },
        { refused: 'engine_incompatible_version' },
      ],
    })
  })

  test('by the engine also for a module that would stay', () => {
    const stays = [module('a1', '1.0.0', { minEngineVersion: '8.0' })]
    const resolved = resolve([], { catalogue: stays, build: { flavour: 'redis', version: '7.0.15' } })
    expect(resolved).toMatchObject({ obstacles: [{ refused: 'engine_incompatible_version' }] })
  })
})

describe('a new database', () => {
  const create = (change: Partial<NewModuleEntry>) =>
    resolveNewModules(
      [
        {
          place: 'module_list[0]',
          uid: undefined,
          name: undefined,
          semanticVersion: undefined,
          args: undefined,
          ...change,
        },
      ],
      scene,
    )

  test('has the newest version that its engine allows, with the arguments of the package', () => {
    expect(create({ name: 'tally' })).toMatchObject({
      modules: [
        { uid: 'a2', name: 'tally', semanticVersion: '1.2.0', sha256: 'hash-a2', args: ['STEP', '5'] },
      ],
    })
  })

  test('has the version that is named, and the arguments that are sent', () => {
    expect(create({ name: 'tally', semanticVersion: '1.0.0', args: [] })).toMatchObject({
      modules: [{ uid: 'a1', args: [] }],
    })
    expect(create({ uid: 'a1' })).toMatchObject({ modules: [{ uid: 'a1' }] })
  })

  test('is refused an unknown module, or one that its engine is too old for', () => {
    expect(create({ name: 'tally', semanticVersion: '7.7.7' })).toMatchObject({
      obstacles: [{ refused: 'missing_module' }],
    })
    expect(create({ uid: 'a3' })).toMatchObject({ obstacles: [{ refused: 'engine_incompatible_version' }] })
  })
})

test('a line of arguments is split as the engines do, and written so that it splits into the same words again', () => {
  const lines: readonly (readonly [string, readonly string[] | null])[] = [
    ['', []],
    ['  PARTITIONS   AUTO ', ['PARTITIONS', 'AUTO']],
    [`A "b c" 'd e' "f \\" g"`, ['A', 'b c', 'd e', 'f " g']],
    ['A ""', ['A', '']],
    ['A "b', null],
    ['A "b"c', null],
  ]
  for (const [line, words] of lines) {
    expect(splitArgs(line), line).toEqual(words)
    if (words !== null) expect(splitArgs(joinArgs(words)), line).toEqual(words)
  }
})
