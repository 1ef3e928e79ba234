import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findCircles } from './tools/find-circles.ts'
import { codeOf, importsOf } from './tools/read-imports.ts'

/** Package → the packages of ours that it may import. Read it as the architecture. */
const mayDependOn: Readonly<Record<string, readonly string[]>> = {
  api: [],
  engine: [],
  agent: ['api', 'engine'],
  proxy: ['api', 'engine'],
  server: ['api', 'engine', 'web'],
  cli: ['api', 'agent', 'proxy', 'server'],
  web: ['api'],
  ledger: [],
}

/** The packages whose only libraries these are, because others install them as a part of something else. */
const lean: Readonly<Record<string, readonly string[]>> = {
  api: ['typebox', 'ajv'],
  engine: [],
  proxy: ['typebox'],
  ledger: [],
}

/**
 * Inside the server, from the inside out: core ← stores ← services ← routes ← app, and core, stores, services ←
 * reconcile ← app. A layer may import itself and those named here.
 */
const layers: Readonly<Record<Layer, readonly Layer[]>> = {
  core: [],
  store: ['core'],
  service: ['core', 'store', 'config'],
  reconcile: ['core', 'store', 'service'],
  http: ['core', 'service', 'config'],
  routes: ['core', 'service', 'http'],
  config: ['core'],
  app: ['core', 'store', 'service', 'reconcile', 'http', 'routes', 'config'],
}
type Layer = 'core' | 'store' | 'service' | 'reconcile' | 'http' | 'routes' | 'config' | 'app'

/**
 * The rooms of a folder, from the inside out: what is in a room may import what is in it, and in the rooms named for it. Each folder of
 * these is a line here. What lies beside the rooms (a program, an index) may import all of them.
 */
const rooms: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'packages/api/src': {
    ...{ contract: [], client: ['contract'], operations: ['contract'] },
    ...{ agent: ['contract'], proxy: ['contract', 'agent'] },
  },
  'packages/engine/src': { process: [], framing: [], tls: ['process'] },
  'packages/web/src': {
    ...{ words: [], live: ['words'], parts: ['words', 'live'], pages: ['words', 'live', 'parts'] },
    look: ['words', 'live', 'parts', 'pages'],
  },
  'packages/cli/src': {
    ...{ output: [], home: [], profiles: ['output'], link: ['output', 'profiles'], parts: ['output'] },
    ...{
      commands: ['output', 'home', 'profiles', 'link', 'parts'],
      tree: ['output', 'home', 'link', 'commands'],
    },
  },
  'packages/agent/src': {
    ...{ process: [], node: [] },
    ...{ tunnels: ['process'], builds: ['process'], folder: ['process'] },
    engine: ['process', 'builds', 'folder'],
    shards: ['process', 'builds', 'folder', 'engine'],
    trials: ['process', 'builds', 'folder', 'engine'],
    proxy: ['process', 'builds', 'engine'],
    server: ['process', 'builds', 'engine', 'proxy'],
  },
  'packages/proxy/src': {
    ...{ remembered: [], traffic: [] },
    connection: ['remembered', 'traffic'],
    listen: ['remembered', 'connection'],
    heartbeat: ['listen'],
    forwarding: ['remembered', 'traffic', 'connection', 'heartbeat'],
    handover: ['remembered', 'connection', 'listen', 'heartbeat', 'forwarding'],
    endpoint: [...['remembered', 'traffic', 'connection', 'listen', 'heartbeat', 'forwarding', 'handover']],
    sharded: [
      ...['remembered', 'traffic', 'connection', 'listen', 'heartbeat', 'forwarding', 'handover', 'endpoint'],
    ],
    workers: ['remembered', 'traffic', 'listen', 'heartbeat', 'handover', 'endpoint', 'sharded'],
    sentinel: ['connection', 'listen', 'heartbeat', 'forwarding'],
    program: ['listen', 'heartbeat', 'handover', 'workers', 'sentinel'],
  },
  'packages/server/src/core': {
    state: [],
    modules: ['state'],
    identity: [],
    losses: ['state'],
    'carry-over': ['state'],
    plan: ['state'],
    standing: ['state'],
    'dry-run': ['state', 'plan'],
    requests: ['state', 'modules', 'plan', 'standing'],
  },
  'packages/server/src/reconcile': {
    turn: [],
    look: ['turn'],
    records: ['turn'],
    shards: ['turn', 'look'],
    clients: ['turn'],
    // The milliseconds that matter: what is on record, and what it takes beside, comes in by its ports.
    handover: ['turn', 'look', 'clients'],
    'carry-over': ['turn', 'records', 'shards'],
    steps: ['turn', 'look', 'records', 'shards', 'clients', 'carry-over', 'handover'],
    loop: ['turn', 'look', 'records', 'shards', 'clients', 'carry-over', 'handover', 'steps'],
  },
}

/** All that core may take from other packages as values: tables and pure functions. Types are free. */
const pureValues = [
  ...['parseVersion', 'compareVersions', 'matchesVersion', 'permissions', 'BUCKETS', 'stepWords'],
  ...['databaseUserRights', 'beyondConnection', 'beyondDatabase', 'isSameAddress', 'sayLength'],
]
const impure =
  /\b(Date\.now|new Date\(\)|performance\.|Math\.random|crypto\.|process\.|fetch\(|setTimeout|setInterval|setImmediate|queueMicrotask|async|await|Promise)\b|\bawait\b/

const drawers = /^(utils?|helpers?|types|common)$/

const root = import.meta.dirname
/** Tests, and what only tests use: files named test-…, and folders named test. */
const isTest = (file: string) => /\.test\.ts$|(^|\/)test(-[\w-]+\.ts$|\/)/.test(file)
const files = globSync(['packages/*/src/**/*.{ts,tsx}', 'ledger/src/**/*.ts'], { cwd: root }).toSorted()
const product = files.filter((file) => !isTest(file))
const server = product.filter((file) => file.startsWith('packages/server/src/'))
const everything = [
  ...files,
  ...globSync(['{demo,bench,e2e,proof,tools}/**/*.{ts,mjs}', '*.ts'], { cwd: root }),
].filter((file) => !file.includes('node_modules/'))

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const packageOf = (file: string) => (file.startsWith('packages/') ? (file.split('/')[1] ?? '') : 'ledger')
const homeOf = (file: string) => (file.startsWith('packages/') ? `packages/${packageOf(file)}` : 'ledger')
const isLocal = (from: string) => from.startsWith('.')
const target = (file: string, from: string) => join(dirname(file), from)

/** Every import of `among` for which `isWrong` holds, as "file → what". */
function strays(
  among: readonly string[],
  isWrong: (file: string, imported: ReturnType<typeof importsOf>[number]) => boolean,
): string[] {
  return among.flatMap((file) =>
    importsOf(read(file))
      .filter((imported) => isWrong(file, imported))
      .map(({ from }) => `${file} → ${from}`),
  )
}

function layerOf(file: string): Layer {
  const path = file.replace('packages/server/src/', '')
  const folder = path.includes('/') ? path.split('/')[0] : ''
  if (path.endsWith('-routes.ts')) return 'routes'
  if (path.endsWith('-store.ts')) return 'store'
  if (folder === 'core' || folder === 'store' || folder === 'reconcile' || folder === 'http') return folder
  if (folder !== '') return 'service'
  return /^(config(-[a-z]+)?|sockets)\.ts$/.test(path) ? 'config' : 'app'
}

describe('between packages', () => {
  test('a package imports only those of ours that the map allows', () => {
    const wrong = strays(product, (file, { from }) => {
      if (packageOf(file) === 'proxy' && from === '@fairlead/api') return true // all schemas cost it memory
      const ours = /^@fairlead\/([^/]+)(?:\/(?:lean|of-parts|of-proxies))?$/.exec(from)?.[1]
      return from.startsWith('@fairlead/') && !(mayDependOn[packageOf(file)] ?? []).includes(ours ?? '')
    })
    expect(wrong).toEqual([])
  })

  test('nothing in packages/ knows the ledger', () => {
    const among = files.filter((file) => file.startsWith('packages/'))
    expect(strays(among, (_, { from }) => from === '@fairlead/ledger' || from.includes('/ledger/'))).toEqual(
      [],
    )
  })

  test('no package reaches into another by a path; its tests may use what proves the product', () => {
    const wrong = strays(files, (file, { from }) => {
      if (!isLocal(from)) return false
      const there = target(file, from)
      return !there.startsWith(`${homeOf(file)}/`) && !(isTest(file) && there.startsWith('proof/'))
    })
    expect(wrong).toEqual([])
  })

  test('a package imports only libraries that its package.json names; those of web are in what is built', () => {
    const wrong = strays(product, (file, { from }) => {
      if (isLocal(from) || from.startsWith('node:')) return false
      const parts = JSON.parse(read(`${homeOf(file)}/package.json`)) as Record<string, object>
      const named = { ...parts['dependencies'], ...(packageOf(file) === 'web' && parts['devDependencies']) }
      return !(libraryOf(from) in named) || builtinModules.includes(from)
    })
    expect(wrong).toEqual([])
  })

  test('api, engine, proxy and ledger stay as lean as they are', () => {
    const libraries = product
      .filter((file) => packageOf(file) in lean)
      .flatMap((file) => importsOf(read(file)).map(({ from }) => ({ file, from })))
      .filter(({ from }) => !isLocal(from) && !from.startsWith('node:') && !from.startsWith('@fairlead/'))
    expect(libraries.filter(({ file, from }) => !lean[packageOf(file)]?.includes(libraryOf(from)))).toEqual(
      [],
    )
  })

  test('nothing that ships imports a test', () => {
    expect(strays(product, (_, { from }) => isTest(from) || from === 'vitest')).toEqual([])
  })
})

describe('rooms', () => {
  test('no file imports itself by a detour', () => {
    const among = new Set(everything.filter((file) => !isTest(file)))
    const next = (file: string) => importsOf(read(file)).map(({ from }) => target(file, from))
    expect(findCircles([...among], (file) => next(file).filter((there) => among.has(there)))).toEqual([])
  })

  test('imports point down only', () => {
    const wrong = strays(product, (file, { from }) => {
      const here = roomOf(file)
      const there = isLocal(from) ? roomOf(target(file, from)) : null
      if (here === null || there === null || here.folder !== there.folder) return false
      const below = here.room === '' ? Object.keys(rooms[here.folder] ?? {}) : rooms[here.folder]?.[here.room]
      return here.room !== there.room && !below?.includes(there.room)
    })
    expect(wrong).toEqual([])
  })

  test('each room is on the map', () => {
    const seen = Map.groupBy(
      product.filter((file) => roomOf(file) !== null),
      (file) => dirname(file),
    )
    const unknown = [...seen.keys()].filter((folder) => {
      const place = roomOf(`${folder}/x.ts`)
      return place !== null && place.room !== '' && !(place.room in (rooms[place.folder] ?? {}))
    })
    expect(unknown).toEqual([])
  })

  test('a folder holds at most 30 files of code', () => {
    const folders = Map.groupBy(
      everything.filter((file) => !file.endsWith('.test.ts')),
      (file) => dirname(file),
    )
    expect([...folders].filter(([, inside]) => inside.length > 30).map(([folder]) => folder)).toEqual([])
  })

  test('what proves the product is used by e2e, bench and demo, and uses none of them', () => {
    const among = everything.filter((file) => file.startsWith('proof/'))
    expect(strays(among, (file, { from }) => /^(e2e|bench|demo)\//.test(target(file, from)))).toEqual([])
    const others = everything.filter((file) => /^(bench|demo)\//.test(file))
    expect(strays(others, (file, { from }) => target(file, from).startsWith('e2e/'))).toEqual([])
  })
})

describe('inside the server', () => {
  test('the layers point one way', () => {
    const wrong = strays(server, (file, { from }) => {
      if (!isLocal(from)) return false
      const [here, there] = [layerOf(file), layerOf(target(file, from))]
      return here !== there && !layers[here].includes(there)
    })
    expect(wrong).toEqual([])
  })

  test('only stores know SQL', () => {
    const others = server.filter((file) => layerOf(file) !== 'store')
    expect(strays(others, (_, { from }) => ['kysely', 'better-sqlite3'].includes(libraryOf(from)))).toEqual(
      [],
    )
  })

  test('in the reconciler one file knows stores; a handover knows nothing of actions and databases either', () => {
    const reconciler = server.filter((file) => layerOf(file) === 'reconcile')
    const others = reconciler.filter((file) => !file.endsWith('/records/stored-records.ts'))
    const isStore = (file: string, from: string) => isLocal(from) && layerOf(target(file, from)) === 'store'
    expect(strays(others, (file, { from }) => isStore(file, from))).toEqual([])
    const handover = reconciler.filter((file) => file.includes('/reconcile/handover/'))
    expect(handover.length).toBeGreaterThan(5)
    expect(strays(handover, (_, { from }) => /\/(actions|databases|audit)\//.test(from))).toEqual([])
  })

  test('only the reconciler connects to engines', () => {
    const others = server.filter((file) => layerOf(file) !== 'reconcile')
    expect(strays(others, (_, { names }) => names.includes('connectEngine'))).toEqual([])
  })

  test('core imports nothing but itself, types, and what is as pure as itself', () => {
    const core = server.filter((file) => layerOf(file) === 'core')
    const wrong = strays(core, (_, { from, values }) => {
      if (isLocal(from)) return false
      return !from.startsWith('@fairlead/') || values.some((name) => !pureValues.includes(name))
    })
    expect(wrong).toEqual([])
  })

  test('core has no clock, no chance, no environment, no network and no promises', () => {
    const core = server.filter((file) => layerOf(file) === 'core')
    const wrong = core.map((file) => ({ file, found: impure.exec(codeOf(read(file)))?.[0] }))
    expect(wrong.filter(({ found }) => found !== undefined)).toEqual([])
  })
})

describe('inside the agent', () => {
  /** What opens files, and why that is safe: nothing of it lies where engines write, or it goes through open folders. */
  const mayOpen = [
    ...['open-plain-file', 'remove-tree', 'give-folder'],
    // Of the agent alone: engines cannot write there.
    ...[
      'shard-folder',
      'proxy-folder',
      'processes-of-others',
      'module-files',
      'durable-file',
      'remove-left-overs',
    ],
    // Of root's, and folders that a server may write in, which they open as such and never by a link.
    ...['server-folder', 'server-moves', 'take-tree'],
    // Of the kernel, and our own code.
    ...[
      'process-identity',
      'read-node',
      'read-peer-users',
      'watch-activity',
      'oom-score',
      'proxy-wall',
      'code-folders',
    ],
  ]
  const opens =
    /^(open|openSync|readFile|readFileSync|createReadStream|readdirSync|rmSync|cp|copyFile|truncate|appendFile)$/

  test('what an engine may have put anywhere is opened in one place', () => {
    const agent = product.filter((file) => /^packages\/agent\/src\/(?!builds\/)/.test(file))
    const wrong = strays(
      agent.filter((file) => !mayOpen.includes(basename(file, '.ts'))),
      (_, { from, names }) => from.startsWith('node:fs') && names.some((name) => opens.test(name)),
    )
    expect(wrong).toEqual([])
  })
})

describe('every file', () => {
  test('the environment is read in config.ts, and in start.ts of the command line, only', () => {
    const wrong = product
      .filter((file) => basename(file) !== 'config.ts' && file !== 'packages/cli/src/start.ts')
      .filter((file) => /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(read(file)))
    expect(wrong).toEqual([])
  })

  test('nothing is exported by default, and nothing re-exported but by the index.ts of a package', () => {
    const wrong = files.filter((file) => {
      const code = read(file)
      if (/^export default\b/m.test(code)) return true
      return (
        !/^(packages\/[^/]+|ledger)\/src\/(index|lean|of-parts|of-proxies)\.ts$/.test(file) &&
        /^export\b[^=;(]*\bfrom '/m.test(code)
      )
    })
    expect(wrong).toEqual([])
  })

  test('it has at most 300 lines; 400 if it is a test', () => {
    const long = everything
      .map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
      .filter(({ file, lines }) => lines > (file.endsWith('.test.ts') ? 400 : 300))
    expect(long).toEqual([])
  })

  test('it is no drawer: no file or folder is called utils, helpers, types or common', () => {
    const parts = (file: string) => file.split('/').map((part) => part.replace(/\..*$/, ''))
    expect(everything.filter((file) => parts(file).some((part) => drawers.test(part)))).toEqual([])
  })

  test('it is named in kebab-case', () => {
    expect(everything.filter((file) => !/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(basename(file)))).toEqual([])
  })
})

/** "typebox/value" → "typebox", "@fairlead/api" → itself. */
function libraryOf(from: string): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')
}

/** In which room of a folder with rooms a file lies; `room` is empty beside the rooms, and null is no such folder. */
function roomOf(file: string): { readonly folder: string; readonly room: string } | null {
  const folder = Object.keys(rooms).find((one) => file.startsWith(`${one}/`))
  if (folder === undefined) return null
  const rest = file.slice(folder.length + 1)
  return { folder, room: rest.includes('/') ? (rest.split('/')[0] ?? '') : '' }
}
