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

/** All that core may take from other packages as values: tables and pure functions. Types are free. */
const pureValues = [
  ...['parseVersion', 'compareVersions', 'matchesVersion', 'permissions', 'BUCKETS', 'stepWords'],
  ...['usersMark', 'MADE_BY_FAIRLEAD'],
  ...['databaseUserRights', 'beyondConnection', 'beyondDatabase', 'isSameAddress', 'sayLength'],
  ...['passwordDigest', 'passwordsMark'],
]
const impure =
  /\b(Date\.now|new Date\(\)|performance\.|Math\.random|crypto\.|process\.|fetch\(|setTimeout|setInterval|setImmediate|queueMicrotask|async|await|Promise)\b|\bawait\b/

/** All but what tests are built from: that starts the product as others do. */
const inSource = files.filter((file) => file.includes('/src/') || file.endsWith('.test.ts'))
const ofServer = product.filter((file) => file.startsWith('packages/server/src/'))
const inRoom = (room: string) => ofServer.filter((file) => roomOf(file) === room)
const outside = (room: string) => ofServer.filter((file) => roomOf(file) !== room)
const isStore = (file: string) => roomOf(file) === 'store' || file.endsWith('-store.ts')

/** What packages of ours may know of each other. */
export const packages = [
  rule('a package imports only those of ours that the map allows', () =>
    strays(product, (file, { from }) => {
      if (packageOf(file) === 'proxy' && from === '@fairlead/api') return true // all schemas cost it memory
      const ours = /^@fairlead\/([^/]+)(?:\/(?:lean|sockets|settings|of-proxies))?$/.exec(from)?.[1]
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

/** Rules for files of the server, in addition to the map of rooms. */
export const server = [
  rule('stores import only core, stores and what stores are made of', () =>
    strays(ofServer.filter(isStore), (file, { from }) => {
      if (!isLocal(from)) return false
      const there = target(file, from)
      return roomOf(there) !== 'core' && !isStore(there)
    }),
  ),

  rule('only stores know SQL', () =>
    strays(
      ofServer.filter((file) => !isStore(file)),
      (_, { from }) => ['kysely', 'better-sqlite3'].includes(libraryOf(from)),
    ),
  ),

  // The stream of events reads pages of what has happened while it is followed.
  rule('a room opens its own stores and the audit; of routes only the stream of events opens any', () =>
    strays(
      ofServer.filter((file) => !['app', 'store', 'reconcile'].includes(roomOf(file))),
      (file, { from }) => {
        const there = target(file, from)
        if (!isLocal(from) || !there.endsWith('-store.ts') || roomOf(there) === 'store') return false
        if (file.startsWith('packages/server/src/routes/stream/')) return false
        return roomOf(there) !== roomOf(file) && !there.endsWith('/audit-store.ts')
      },
    ),
  ),

  rule('in the reconciler one file knows stores', () =>
    strays(
      inRoom('reconcile').filter((file) => !file.endsWith('/records/stored-records.ts')),
      (file, { from }) => isLocal(from) && isStore(target(file, from)),
    ),
  ),

  rule('a handover knows nothing of stores, actions, databases and the audit', () => {
    const handover = inRoom('reconcile').filter((file) => file.includes('/reconcile/handover/'))
    mustSee(handover.length, 6)
    return strays(handover, (_, { from }) => /\/(fleet|audit)\//.test(from))
  }),

  rule('only the reconciler connects to engines', () =>
    strays(outside('reconcile'), (_, { names }) => names.includes('connectEngine')),
  ),

  // invariant: core/ imports only itself, types and functions as pure as itself.
  rule('core imports nothing but itself, types, and what is as pure as itself', () =>
    strays(inRoom('core'), (_, { from, values }) => {
      if (isLocal(from)) return false
      return !from.startsWith('@fairlead/') || values.some((name) => !pureValues.includes(name))
    }),
  ),

  // invariant: core/ reads no clock, environment or network, and has no promises.
  rule('core has no clock, no chance, no environment, no network and no promises', () =>
    inRoom('core').flatMap((file) => {
      const found = impure.exec(codeOf(read(file)))
      return found === null ? [] : [`${file}: ${found[0]}`]
    }),
  ),
]

/**
 * What opens files, and why that is safe: nothing of it lies where engines write, or it goes through open
 * folders.
 */
const mayOpen = [
  ...['open-plain-file', 'remove-tree', 'give-folder'],
  // Of the agent alone: engines cannot write there.
  ...[
    'backup-folder',
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

/** The first folder of a file of the server; empty for a file next to the folders. */
function roomOf(file: string): string {
  const path = file.replace('packages/server/src/', '')
  return path.includes('/') ? (path.split('/')[0] ?? '') : ''
}
