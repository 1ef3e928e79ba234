/** The server of the benchmark `events`: the streams of the server that ships, with one action that it changes when its parent says so. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { steadyGoal } from '../../packages/server/src/core/state/database.ts'
import { createActions } from '../../packages/server/src/fleet/actions/actions-service.ts'
import { createEventFeed } from '../../packages/server/src/fleet/events/event-feed.ts'
import { openEventMarks } from '../../packages/server/src/fleet/events/event-marks.ts'
import { actionsStore } from '../../packages/server/src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../packages/server/src/fleet/stores/databases-store.ts'
import { createHttp } from '../../packages/server/src/http/create-http.ts'
import { mountOn } from '../../packages/server/src/http/mount.ts'
import { actionsRoutes } from '../../packages/server/src/routes/fleet/actions-routes.ts'
import { createClusterEvents } from '../../packages/server/src/routes/stream/cluster-events.ts'
import { eventsRoutes } from '../../packages/server/src/routes/stream/events-routes.ts'
import { openStore } from '../../packages/server/src/store/open-store.ts'
import { databaseOf } from '../../packages/server/test/records.ts'

const folder = mkdtempSync(join(tmpdir(), 'fairlead-events-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const store = await openStore(join(folder, 'store.db'))
const database = await databasesStore(store.db).insert({ ...databaseOf(), groups: 1 })
const at = () => new Date().toISOString()
const action = { uid: 'a', databaseUid: database.uid, kind: 'upgrade', goal: steadyGoal(database) } as const
await actionsStore(store.db).insert(action, at())

const log = pino({ level: 'silent' })
const http = createHttp({
  identify: (_, { address }) => ({
    user: { uid: 1, name: 'admin', grants: [{ management: 'admin', databases: null }] },
    ...{ address, token: null },
  }),
  onRefused: async () => undefined,
  log,
  placeLimits: { most: 10_000, mostOfSource: 10_000, mostOfUser: 10_000 },
})
const view = { database, shards: [], action: undefined }
const databases = { get: async () => view, list: async () => [view] }
const feed = createEventFeed(store)
const nodes = { describe: async () => null }
const mount = mountOn(http)
actionsRoutes(mount, createActions({ store, feed }))
const marks = await openEventMarks(store)
eventsRoutes(
  mount,
  createClusterEvents({ store, marks, feed, databases, nodes, now: Date.now, log }),
  databases,
)
process.send?.(await http.listen({ host: '127.0.0.1', port: 0 }))
process.on('disconnect', () => process.exit())

const [{ changes, everyMs }] = (await once(process, 'message')) as [{ changes: number; everyMs: number }]
await pause(2_000) // all followers are there
const earlyHeapMb = heapMb()
const before = process.cpuUsage()
const beganMs = performance.now()
for (let n = 0; n < changes; n += 1) {
  await pause(Math.max(0, beganMs + n * everyMs - performance.now()))
  // The moment before its commit, in the words of the event.
  const moment = String(performance.timeOrigin + performance.now())
  await actionsStore(store.db).update('a', { waitingFor: moment }, at())
}
await actionsStore(store.db).update('a', { status: 'done', progress: 100 }, at())
const { user, system } = process.cpuUsage(before)
process.send?.({
  cpuMs: (user + system) / 1_000,
  memoryMb: process.memoryUsage().rss / 1_000_000,
  ...{ earlyHeapMb, heapMb: heapMb() },
})

/** What is still needed, in MB. */
function heapMb(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1_000_000
}
