import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codeOf, importsOf } from './tools/read-imports.ts'

/** Package → the packages of ours that it may import. Read it as the architecture. */
const mayDependOn: Readonly<Record<string, readonly string[]>> = {
  api: [],
  engine: [],
  agent: ['api', 'engine'],
  proxy: ['api', 'engine'],
  server: ['api', 'engine'],
  cli: ['api', 'agent', 'proxy', 'server'],
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

/** All that core may take from other packages as values: tables and pure functions. Types are free. */
const pureValues = [
  ...['parseVersion', 'compareVersions', 'matchesVersion', 'permissions'],
  ...['databaseUserRights', 'beyondDatabase'],
]
const impure =
  /\b(Date\.now|new Date\(\)|performance\.|Math\.random|crypto\.|process\.|fetch\(|setTimeout|setInterval|setImmediate|queueMicrotask|async|await|Promise)\b|\bawait\b/

const drawers = /^(utils?|helpers?|types|common)$/

const root = import.meta.dirname
/** Tests, and what only tests use: files named test-…, and folders named test. */
const isTest = (file: string) => /\.test\.ts$|(^|\/)test(-[\w-]+\.ts$|\/)/.test(file)
const files = globSync(['packages/*/src/**/*.ts', 'ledger/src/**/*.ts'], { cwd: root }).toSorted()
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
  return ['config.ts', 'config-variables.ts', 'sockets.ts'].includes(path) ? 'config' : 'app'
}

describe('between packages', () => {
  test('a package imports only those of ours that the map allows', () => {
    const wrong = strays(product, (file, { from }) => {
      const ours = /^@fairlead\/([^/]+)$/.exec(from)?.[1]
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

  test('no package reaches into another by a path', () => {
    const wrong = strays(
      files,
      (file, { from }) => isLocal(from) && !target(file, from).startsWith(`${homeOf(file)}/`),
    )
    expect(wrong).toEqual([])
  })

  test('a package imports only libraries that its package.json names', () => {
    const wrong = strays(product, (file, { from }) => {
      if (isLocal(from) || from.startsWith('node:')) return false
      const { dependencies = {} } = JSON.parse(read(`${homeOf(file)}/package.json`)) as {
        dependencies?: Record<string, string>
      }
      return !(libraryOf(from) in dependencies) || builtinModules.includes(from)
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
    ...['shard-folder', 'proxy-folder', 'processes-of-others', 'module-files', 'durable-file', 'lock-file'],
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
    const agent = product.filter((file) => /^packages\/agent\/src\/[^/]+$/.test(file))
    const wrong = strays(
      agent.filter((file) => !mayOpen.includes(basename(file, '.ts'))),
      (_, { from, names }) => from.startsWith('node:fs') && names.some((name) => opens.test(name)),
    )
    expect(wrong).toEqual([])
  })
})

describe('every file', () => {
  test('the environment is read in config.ts, and in main.ts of the command line, only', () => {
    const wrong = product
      .filter((file) => basename(file) !== 'config.ts' && file !== 'packages/cli/src/main.ts')
      .filter((file) => /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(read(file)))
    expect(wrong).toEqual([])
  })

  test('nothing is exported by default, and nothing re-exported but by the index.ts of a package', () => {
    const wrong = files.filter((file) => {
      const code = read(file)
      if (/^export default\b/m.test(code)) return true
      return (
        !/^(packages\/[^/]+|ledger)\/src\/index\.ts$/.test(file) && /^export\b[^=;(]*\bfrom '/m.test(code)
      )
    })
    expect(wrong).toEqual([])
  })

  test('it has at most 300 lines; 400 if it is a test', () => {
    const long = everything
      .map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
      .filter(({ file, lines }) => lines > (isTest(file) ? 400 : 300))
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
