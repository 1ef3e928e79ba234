import { dirname } from 'node:path'
import { findCircles } from './find-circles.ts'
import { rule } from './rule.ts'
import { everything, importsIn, isLocal, isTest, product, strays, target } from './tree.ts'

/**
 * The rooms of each folder, from the inside out: a file may import from its own room and from the rooms named
 * for it. A file next to the rooms (a program, an index) may import from all of them, and no room imports
 * from it. A room with rooms has a map too.
 */
const map: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'packages/api/src': {
    contract: [],
    client: ['contract'],
    operations: ['contract'],
    agent: ['contract'],
    proxy: ['contract', 'agent'],
  },
  'packages/engine/src': { process: [], framing: [], tls: ['process'] },
  'packages/web/src': {
    words: [],
    live: ['words'],
    parts: ['words', 'live'],
    pages: ['words', 'live', 'parts'],
  },
  'packages/cli/src': {
    output: [],
    home: [],
    profiles: ['output'],
    link: ['output', 'profiles'],
    parts: ['output'],
    commands: ['output', 'home', 'profiles', 'link', 'parts'],
    tree: ['output', 'home', 'link', 'commands'],
  },
  'packages/agent/src': {
    process: [],
    node: [],
    tunnels: ['process'],
    builds: ['process'],
    folder: ['process'],
    engine: ['process', 'builds', 'folder'],
    shards: ['process', 'builds', 'folder', 'engine'],
    trials: ['process', 'builds', 'folder', 'engine'],
    backups: ['process', 'node', 'folder', 'engine', 'trials'],
    proxy: ['process', 'builds', 'engine'],
    server: ['process', 'builds', 'engine', 'proxy'],
  },
  'packages/proxy/src': {
    remembered: [],
    traffic: [],
    connection: ['remembered', 'traffic'],
    listen: ['remembered', 'connection'],
    heartbeat: ['listen'],
    forwarding: ['remembered', 'traffic', 'connection', 'listen', 'heartbeat'],
    handover: ['remembered', 'connection', 'listen', 'heartbeat', 'forwarding'],
    endpoint: [...['remembered', 'traffic', 'connection', 'listen', 'heartbeat', 'forwarding', 'handover']],
    sharded: [
      ...['remembered', 'traffic', 'connection', 'listen', 'heartbeat', 'forwarding', 'handover', 'endpoint'],
    ],
    workers: ['remembered', 'traffic', 'listen', 'heartbeat', 'handover', 'endpoint', 'sharded'],
    sentinel: ['connection', 'listen', 'heartbeat', 'forwarding'],
    program: ['listen', 'heartbeat', 'handover', 'workers', 'sentinel'],
  },
  // Data flows one way: routes → services (fleet, identity, observe, …) → stores.
  'packages/server/src': {
    core: [],
    config: ['core'],
    store: ['core'],
    identity: ['core', 'store'],
    leases: ['core', 'store'],
    tls: ['core', 'store', 'identity'],
    nodes: ['core'],
    observe: ['core', 'config', 'store', 'nodes'],
    operator: ['config', 'store', 'identity', 'nodes'],
    fleet: ['core', 'store', 'identity', 'tls', 'nodes'],
    reconcile: ['core', 'store', 'identity', 'leases', 'tls', 'nodes', 'observe', 'fleet'],
    http: ['core', 'identity', 'tls', 'nodes'],
    routes: ['core', 'store', 'identity', 'tls', 'nodes', 'observe', 'fleet', 'http'],
    app: [
      ...['core', 'config', 'store', 'identity', 'leases', 'tls', 'nodes', 'observe', 'operator', 'fleet'],
      ...['reconcile', 'http', 'routes'],
    ],
  },
  // Records of a room of services that change together, in one transaction: their stores are one room.
  'packages/server/src/identity': {
    stores: [],
    hashing: [],
    audit: ['stores'],
    sessions: ['stores', 'hashing', 'audit'],
    passwords: ['stores', 'hashing', 'sessions'],
    roles: ['stores', 'sessions'],
    users: ['stores', 'sessions', 'passwords'],
    cluster: ['stores', 'passwords'],
  },
  'packages/server/src/fleet': {
    stores: [],
    events: ['stores'],
    refusals: ['stores'],
    modules: ['stores', 'refusals'],
    databases: ['stores', 'refusals', 'modules'],
    actions: ['stores', 'refusals', 'events', 'modules', 'databases'],
    endpoints: ['stores', 'refusals', 'databases'],
    backups: ['databases'],
    upgrades: ['stores', 'refusals', 'modules', 'databases', 'actions'],
  },
  'packages/server/src/observe': {
    stores: [],
    statistics: ['stores'],
    metrics: ['stores', 'statistics'],
    traces: [],
  },
  'packages/server/src/routes': {
    nodes: [],
    observe: [],
    identity: ['nodes'],
    fleet: ['nodes', 'identity'],
    stream: ['identity', 'fleet'],
  },
  'packages/server/src/core': {
    access: [],
    state: ['access'],
    modules: ['state'],
    identity: [],
    losses: ['state'],
    'carry-over': ['state'],
    users: ['access', 'state', 'carry-over'],
    plan: ['state'],
    progress: ['state'],
    'dry-run': ['state', 'plan'],
    requests: ['access', 'state', 'modules', 'plan', 'progress'],
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
    strays(product, (file, { from }) => isLocal(from) && pointsUp(file, target(file, from))),
  ),

  rule('the map has no circles, and each folder with rooms has all of them on it', () => [
    ...Object.entries(map).flatMap(([folder, rooms]) =>
      findCircles(Object.keys(rooms), (room) => rooms[room] ?? []).map(
        (circle) => `${folder}: ${circle.join(' → ')}`,
      ),
    ),
    ...product.flatMap((file) =>
      placesOf(file)
        .filter(({ folder, room }) => room !== '' && !(room in (map[folder] ?? {})))
        .map(({ folder, room }) => `${folder}: ${room}`),
    ),
    ...Object.entries(map).flatMap(([folder, rooms]) =>
      Object.keys(rooms)
        .filter((room) => !product.some((file) => file.startsWith(`${folder}/${room}/`)))
        .map((room) => `${folder}: ${room} is gone`),
    ),
  ]),

  rule('the server has at most 17 places', () => {
    const home = 'packages/server/src/'
    const places = new Set(
      product.filter((file) => file.startsWith(home)).map((file) => file.slice(home.length).split('/')[0]),
    )
    return places.size > 17 ? [[...places].join(', ')] : []
  }),

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

interface Place {
  readonly folder: string
  /** Empty for a file next to the rooms. */
  readonly room: string
}

/** The places of a file, one for each folder of the map that it is in. */
function placesOf(file: string): readonly Place[] {
  return Object.keys(map)
    .filter((folder) => file.startsWith(`${folder}/`))
    .map((folder) => {
      const rest = file.slice(folder.length + 1)
      return { folder, room: rest.includes('/') ? (rest.split('/')[0] ?? '') : '' }
    })
}

function pointsUp(file: string, there: string): boolean {
  const places = placesOf(there)
  return placesOf(file).some(({ folder, room }) => {
    const to = places.find((place) => place.folder === folder)
    if (to === undefined || to.room === room || room === '') return false
    return map[folder]?.[room]?.includes(to.room) !== true
  })
}
