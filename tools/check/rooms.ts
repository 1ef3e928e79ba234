import { dirname } from 'node:path'
import { findCircles } from './find-circles.ts'
import { rule } from './rule.ts'
import { everything, importsIn, isLocal, isTest, product, strays, target } from './tree.ts'

/**
 * The rooms of a folder, from the inside out: what is in a room may import what is in it, and in the rooms named for it. Each folder of
 * these is a line here. What lies beside the rooms (a program, an index) may import all of them.
 */
const map: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'packages/api/src': {
    ...{ contract: [], client: ['contract'], operations: ['contract'] },
    ...{ agent: ['contract'], proxy: ['contract', 'agent'] },
  },
  'packages/engine/src': { process: [], framing: [], tls: ['process'] },
  'packages/web/src': {
    ...{ words: [], live: ['words'], parts: ['words', 'live'], pages: ['words', 'live', 'parts'] },
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

/** Where files of the repository lie, and which way they point. */
export const rooms = [
  rule('no file imports itself by a detour', () => {
    const among = new Set(everything.filter((file) => !isTest(file)))
    const next = (file: string) =>
      importsIn(file)
        .map(({ from }) => target(file, from))
        .filter((there) => among.has(there))
    return findCircles([...among], next).map((circle) => circle.join(' → '))
  }),

  rule('imports between rooms point down only', () =>
    strays(product, (file, { from }) => {
      const here = roomOf(file)
      const there = isLocal(from) ? roomOf(target(file, from)) : null
      if (here === null || there === null || here.folder !== there.folder) return false
      const below = here.room === '' ? Object.keys(map[here.folder] ?? {}) : map[here.folder]?.[here.room]
      return here.room !== there.room && !below?.includes(there.room)
    }),
  ),

  rule('each room is on the map', () =>
    product.filter((file) => {
      const place = roomOf(file)
      return place !== null && place.room !== '' && !(place.room in (map[place.folder] ?? {}))
    }),
  ),

  rule('a folder holds at most 30 files of code', () => {
    const among = everything.filter((file) => !file.endsWith('.test.ts'))
    const folders = [...Map.groupBy(among, (file) => dirname(file))]
    return folders
      .filter(([, inside]) => inside.length > 30)
      .map(([folder, inside]) => `${folder}: ${inside.length} files`)
  }),

  rule('what proves the product is used by e2e, bench and demo, and uses none of them', () => [
    ...strays(
      everything.filter((file) => file.startsWith('proof/')),
      (file, { from }) => /^(e2e|bench|demo)\//.test(target(file, from)),
    ),
    ...strays(
      everything.filter((file) => /^(bench|demo)\//.test(file)),
      (file, { from }) => target(file, from).startsWith('e2e/'),
    ),
  ]),
]

/** In which room of a folder with rooms a file lies; `room` is empty beside the rooms, and null is no such folder. */
function roomOf(file: string): { readonly folder: string; readonly room: string } | null {
  const folder = Object.keys(map).find((one) => file.startsWith(`${one}/`))
  if (folder === undefined) return null
  const rest = file.slice(folder.length + 1)
  return { folder, room: rest.includes('/') ? (rest.split('/')[0] ?? '') : '' }
}
