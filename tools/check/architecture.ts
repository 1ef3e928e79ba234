import { builtinModules } from 'node:module'
import { basename } from 'node:path'
import { codeOf } from './read-imports.ts'
import { mustSee, rule } from './rule.ts'
import {
  files,
  homeOf,
  isLocal,
  isTest,
  libraryOf,
  packageOf,
  product,
  read,
  strays,
  target,
} from './tree.ts'

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

/** All that core may take from other packages as values: tables and pure functions. Types are free. */
const pureValues = [
  ...['parseVersion', 'compareVersions', 'matchesVersion', 'permissions', 'BUCKETS', 'stepWords'],
  ...['databaseUserRights', 'beyondConnection', 'beyondDatabase', 'isSameAddress', 'sayLength'],
]
const impure =
  /\b(Date\.now|new Date\(\)|performance\.|Math\.random|crypto\.|process\.|fetch\(|setTimeout|setInterval|setImmediate|queueMicrotask|async|await|Promise)\b|\bawait\b/

/** All but what tests are built from: that starts the product as others do. */
const inSource = files.filter((file) => file.includes('/src/') || file.endsWith('.test.ts'))
const ofServer = product.filter((file) => file.startsWith('packages/server/src/'))
const ofLayer = (layer: Layer) => ofServer.filter((file) => layerOf(file) === layer)
const outside = (layer: Layer) => ofServer.filter((file) => layerOf(file) !== layer)

/** What packages of ours may know of each other. */
export const packages = [
  rule('a package imports only those of ours that the map allows', () =>
    strays(product, (file, { from }) => {
      if (packageOf(file) === 'proxy' && from === '@fairlead/api') return true // all schemas cost it memory
      const ours = /^@fairlead\/([^/]+)(?:\/(?:lean|of-parts|of-proxies))?$/.exec(from)?.[1]
      return from.startsWith('@fairlead/') && !(mayDependOn[packageOf(file)] ?? []).includes(ours ?? '')
    }),
  ),

  rule('nothing in packages/ knows the ledger', () =>
    strays(
      files.filter((file) => file.startsWith('packages/')),
      (_, { from }) => from === '@fairlead/ledger' || from.includes('/ledger/'),
    ),
  ),

  rule('no package reaches into another by a path; its tests may use what proves the product', () =>
    strays(inSource, (file, { from }) => {
      if (!isLocal(from)) return false
      const there = target(file, from)
      return !there.startsWith(`${homeOf(file)}/`) && !(isTest(file) && there.startsWith('proof/'))
    }),
  ),

  rule(
    'a package imports only libraries that its package.json names; those of web are in what is built',
    () =>
      strays(product, (file, { from }) => {
        if (isLocal(from) || from.startsWith('node:')) return false
        const parts = JSON.parse(read(`${homeOf(file)}/package.json`)) as Record<string, object>
        const named = { ...parts['dependencies'], ...(packageOf(file) === 'web' && parts['devDependencies']) }
        return !(libraryOf(from) in named) || builtinModules.includes(from)
      }),
  ),

  rule('api, engine, proxy and ledger stay as lean as they are', () =>
    strays(product, (file, { from }) => {
      if (isLocal(from) || from.startsWith('node:') || from.startsWith('@fairlead/')) return false
      return lean[packageOf(file)]?.includes(libraryOf(from)) === false
    }),
  ),

  rule('nothing that ships imports a test', () =>
    strays(
      product,
      (file, { from }) => isTest(isLocal(from) ? target(file, from) : from) || from === 'vitest',
    ),
  ),
]

/** What parts of the server may know of each other. */
export const server = [
  rule('the layers of the server point one way', () =>
    strays(ofServer, (file, { from }) => {
      if (!isLocal(from)) return false
      const [here, there] = [layerOf(file), layerOf(target(file, from))]
      return here !== there && !layers[here].includes(there)
    }),
  ),

  rule('only stores know SQL', () =>
    strays(outside('store'), (_, { from }) => ['kysely', 'better-sqlite3'].includes(libraryOf(from))),
  ),

  rule('in the reconciler one file knows stores', () =>
    strays(
      ofLayer('reconcile').filter((file) => !file.endsWith('/records/stored-records.ts')),
      (file, { from }) => isLocal(from) && layerOf(target(file, from)) === 'store',
    ),
  ),

  rule('a handover knows nothing of stores, actions, databases and the audit', () => {
    const handover = ofLayer('reconcile').filter((file) => file.includes('/reconcile/handover/'))
    mustSee(handover.length, 6)
    return strays(handover, (_, { from }) => /\/(actions|databases|audit)\//.test(from))
  }),

  rule('only the reconciler connects to engines', () =>
    strays(outside('reconcile'), (_, { names }) => names.includes('connectEngine')),
  ),

  rule('core imports nothing but itself, types, and what is as pure as itself', () =>
    strays(ofLayer('core'), (_, { from, values }) => {
      if (isLocal(from)) return false
      return !from.startsWith('@fairlead/') || values.some((name) => !pureValues.includes(name))
    }),
  ),

  rule('core has no clock, no chance, no environment, no network and no promises', () =>
    ofLayer('core').flatMap((file) => {
      const found = impure.exec(codeOf(read(file)))
      return found === null ? [] : [`${file}: ${found[0]}`]
    }),
  ),
]

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

/** What parts of the agent may do. */
export const agent = [
  rule('what an engine may have put anywhere is opened in one place of the agent', () =>
    strays(
      product
        .filter((file) => /^packages\/agent\/src\/(?!builds\/)/.test(file))
        .filter((file) => !mayOpen.includes(basename(file, '.ts'))),
      (_, { from, names }) => from.startsWith('node:fs') && names.some((name) => opens.test(name)),
    ),
  ),
]

function layerOf(file: string): Layer {
  const path = file.replace('packages/server/src/', '')
  const folder = path.includes('/') ? path.split('/')[0] : ''
  if (path.endsWith('-routes.ts')) return 'routes'
  if (path.endsWith('-store.ts')) return 'store'
  if (folder === 'core' || folder === 'store' || folder === 'reconcile' || folder === 'http') return folder
  if (folder !== '') return 'service'
  return /^(config(-[a-z]+)?|sockets)\.ts$/.test(path) ? 'config' : 'app'
}
