import { join } from 'node:path'
import { getOpenApi, operations, toOpenApi } from '@fairlead/api'
import { consoleFolder } from '@fairlead/web'
import type { FastifyInstance } from 'fastify'
import { actionsRoutes } from './actions/actions-routes.ts'
import { createActions } from './actions/actions-service.ts'
import { ordersRoutes } from './actions/orders-routes.ts'
import { createOrders } from './actions/orders-service.ts'
import type { Identity } from './assemble-identity.ts'
import type { Reconciling } from './assemble-reconciling.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { clusterRoutes } from './cluster/cluster-routes.ts'
import { healthRoutes } from './cluster/health-routes.ts'
import { readConsole } from './console/console-files.ts'
import { answerWithPage, consoleRoutes } from './console/console-routes.ts'
import { actorOf } from './core/identity/access.ts'
import { credentialsRoutes } from './databases/credentials-routes.ts'
import { databasesListRoutes } from './databases/databases-list-routes.ts'
import { databasesRoutes } from './databases/databases-routes.ts'
import { limitsRoutes } from './databases/limits-routes.ts'
import { createLimitChanges } from './databases/limits-service.ts'
import { shardsRoutes } from './databases/shards-routes.ts'
import { createShards } from './databases/shards-service.ts'
import { commandsRoutes } from './endpoints/commands-routes.ts'
import { createCommands } from './endpoints/commands-service.ts'
import { deletionsRoutes } from './endpoints/deletions-routes.ts'
import { createDeletions } from './endpoints/deletions-service.ts'
import { endpointsRoutes } from './endpoints/endpoints-routes.ts'
import { createEndpoints } from './endpoints/endpoints-service.ts'
import { createClusterEvents } from './events/cluster-events.ts'
import { createEventFeed } from './events/event-feed.ts'
import { eventsRoutes } from './events/events-routes.ts'
import { mostByFiles, readFileLimit } from './http/connections/bound-connections.ts'
import { prepareFarewell } from './http/connections/farewell.ts'
import { createHttp } from './http/create-http.ts'
import { type Mount, mountOn } from './http/mount.ts'
import { countAnswers } from './metrics/count-answers.ts'
import { metricsRoute, type Readers } from './metrics/metrics-routes.ts'
import { openScrapeToken } from './metrics/scrape-token.ts'
import { modulesRoutes } from './modules/modules-routes.ts'
import { nodeStatusRoutes } from './nodes/node-status-routes.ts'
import { nodesRoutes } from './nodes/nodes-routes.ts'
import type { Ground } from './open-ground.ts'
import { passwordsRoutes } from './passwords/passwords-routes.ts'
import { askAsClient } from './reconcile/look/ask-as-client.ts'
import { rolesRoutes } from './roles/roles-routes.ts'
import { hostsOfApi } from './serve-https.ts'
import { createIdentify } from './sessions/identify.ts'
import { sessionsRoutes } from './sessions/sessions-routes.ts'
import { createSessions } from './sessions/sessions-service.ts'
import { statisticsRoutes } from './statistics/statistics-routes.ts'
import { tellOfCommits } from './store/tell-of-commits.ts'
import { tlsRoutes } from './tls/tls-routes.ts'
import { traceRequests } from './traces/trace-requests.ts'
import { targetsRoutes } from './upgrades/targets-routes.ts'
import { createUpgradeHints } from './upgrades/upgrade-hints.ts'
import { upgradesRoutes } from './upgrades/upgrades-routes.ts'
import { createUpgrades } from './upgrades/upgrades-service.ts'
import { usersRoutes } from './users/users-routes.ts'
import { createUsers } from './users/users-service.ts'
import { softwareVersion } from './version.ts'

/** The API of the cluster, with all its operations mounted; it does not listen yet. The caller closes it. */
export function serveApi(
  ground: Ground,
  identity: Identity,
  reconciling: Reconciling,
  readers: Readers = readersOfMetrics(ground, identity),
): FastifyInstance {
  const { config, log } = ground
  const { sourceOf } = identity
  const { identify, onRefused } = readers
  const files = readConsole(consoleFolder)
  const http = createHttp({
    ...{ identify, onRefused, log },
    first: (app) => watchRequests(app, ground),
    sourceOf,
    hostNames: [...config.hostNames, ...(hostsOfApi(config) ?? [])],
    mostConnections: config.mostConnections ?? mostByFiles(readFileLimit()),
    pageAt: (request, reply) => answerWithPage(request, reply, files),
  })
  consoleRoutes(http, files)
  metricsRoute(http, '/metrics', () => reconciling.metrics.own(), readers)
  const mount = mountOn(http, tellOfCommits)
  mountIdentity(mount, ground, identity)
  mountDatabases(mount, ground, identity, reconciling)
  tlsRoutes(mount, reconciling.tls, reconciling.nudgeAll)
  modulesRoutes(mount, reconciling.modules)
  clusterRoutes(mount, identity.cluster, reconciling.nodes, softwareVersion)
  nodesRoutes(mount, reconciling.nodes, reconciling.databases, softwareVersion)
  nodeStatusRoutes(mount, reconciling.nodes, reconciling.databases, softwareVersion)
  let isStopping = false
  const farewell = prepareFarewell(http.server)
  http.addHook('preClose', async () => {
    isStopping = true
    await farewell()
  })
  healthRoutes(mount, { cluster: identity.cluster, nodes: reconciling.nodes, isStopping: () => isStopping })
  statisticsRoutes(mount, reconciling.statistics, reconciling.databases)
  const document = toOpenApi(operations, softwareVersion)
  mount(getOpenApi, async () => document)
  return http
}

/** What decides which requests may do what: by the users of the cluster, and for metrics by the scrape token. */
export function readersOfMetrics({ folder, store, now }: Ground, identity: Identity): Readers {
  const { tokens, browserSessions: sessions, identities, logins, sourceOf, counter } = identity
  return {
    token: openScrapeToken(join(folder, 'metrics.token')),
    identify: createIdentify({ store, tokens, sessions, identities, logins, sourceOf, now }),
    onRefused: (caller, permission, databaseUid) =>
      counter.record({
        type: 'permission_refused',
        by: actorOf(caller),
        ...(databaseUid !== undefined && { databaseUid }),
        details: { permission },
      }),
  }
}

/** Counts requests, and makes spans of them if there are to be traces. */
function watchRequests(http: FastifyInstance, { config: { traces }, counters, spans }: Ground): void {
  countAnswers(http, counters)
  if (traces !== null && spans !== null) traceRequests(http, spans.record, traces)
}

function mountIdentity(mount: Mount, { store, now }: Ground, identity: Identity): void {
  const { identities, keys, tokens, counter, logins, passwords, userPasswords, roles } = identity
  const sessions = createSessions({ store, logins, tokens, identities, counter, now })
  sessionsRoutes(mount, sessions, identity.browserSessions, keys)
  passwordsRoutes(mount, passwords)
  usersRoutes(mount, createUsers({ store, passwords: userPasswords, identities, logins, now }), roles)
  rolesRoutes(mount, roles)
}

function mountDatabases(
  mount: Mount,
  { store, eventMarks, agent, proxy, now, log }: Ground,
  { counter, audit }: Identity,
  reconciling: Reconciling,
): void {
  const { databases, modules, nodes, trials, tls, nudge } = reconciling
  const { look, probeAsClient } = reconciling.observer
  const feed = createEventFeed(store)
  const actions = createActions({ store, now, feed })
  const events = createClusterEvents({ store, marks: eventMarks, feed, databases, nodes, now, log })
  eventsRoutes(mount, events, databases)
  const hints = createUpgradeHints({ nodes, modules, now })
  databasesRoutes(mount, databases, hints)
  databasesListRoutes(mount, databases, hints)
  credentialsRoutes(mount, databases, counter)
  shardsRoutes(mount, createShards({ store, databases, nodes, look }))
  const endpoints = createEndpoints({ databases, proxy, agent, tls, probeAsClient })
  endpointsRoutes(mount, endpoints)
  deletionsRoutes(mount, databases, createDeletions({ databases, endpoints, look }))
  commandsRoutes(mount, createCommands({ databases, tls, counter, askAsClient }))
  limitsRoutes(mount, createLimitChanges({ store, databases, modules, now, look, nudge }), databases)
  const upgrades = createUpgrades({ databases, nodes, modules, actions, look, tryRuns: trials.tryRuns })
  upgradesRoutes(mount, upgrades)
  targetsRoutes(mount, upgrades)
  actionsRoutes(mount, actions)
  auditRoutes(mount, audit, actions.databaseOf)
  ordersRoutes(mount, actions, createOrders({ store, databases, nudge, now }))
}
