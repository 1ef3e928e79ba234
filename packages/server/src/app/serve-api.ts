import { join } from 'node:path'
import { getOpenApi, operations, toOpenApi } from '@fairlead/api'
import { consoleFolder } from '@fairlead/web'
import type { FastifyInstance } from 'fastify'
import { softwareVersion } from '../config/version.ts'
import { actorOf, may } from '../core/identity/access.ts'
import { createActions } from '../fleet/actions/actions-service.ts'
import { createOrders } from '../fleet/actions/orders-service.ts'
import { createBackups } from '../fleet/backups/backups-service.ts'
import { createDatabaseChanges } from '../fleet/databases/change-service.ts'
import { createRuleJudge, type RuleJudge } from '../fleet/databases/rule-judge.ts'
import { createShards } from '../fleet/databases/shards-service.ts'
import { createCommands } from '../fleet/endpoints/commands-service.ts'
import { createDeletions } from '../fleet/endpoints/deletions-service.ts'
import { createEndpoints } from '../fleet/endpoints/endpoints-service.ts'
import { createEventFeed } from '../fleet/events/event-feed.ts'
import { databasesStore } from '../fleet/stores/databases-store.ts'
import { createUpgradeHints } from '../fleet/upgrades/upgrade-hints.ts'
import { createUpgrades } from '../fleet/upgrades/upgrades-service.ts'
import { mostByFiles, readFileLimit } from '../http/connections/connections.ts'
import { readConsole } from '../http/console-files.ts'
import { createHttp } from '../http/create-http.ts'
import { type Mount, mountOn } from '../http/mount.ts'
import { aclRecords, createAcls } from '../identity/roles/acls-service.ts'
import { createIdentify } from '../identity/sessions/identify.ts'
import { createSessions } from '../identity/sessions/sessions-service.ts'
import { createUsers } from '../identity/users/users-service.ts'
import { countAnswers } from '../observe/metrics/count-answers.ts'
import { openScrapeToken } from '../observe/metrics/scrape-token.ts'
import { traceRequests } from '../observe/traces/trace-requests.ts'
import { askAsClient } from '../reconcile/look/ask-as-client.ts'
import { realTime } from '../reconcile/turn/time.ts'
import { answerWithPage, consoleRoutes } from '../routes/console-routes.ts'
import { actionsRoutes } from '../routes/fleet/actions-routes.ts'
import { backupsRoutes } from '../routes/fleet/backups-routes.ts'
import { databasesRoutes } from '../routes/fleet/databases-routes.ts'
import { endpointsRoutes } from '../routes/fleet/endpoints-routes.ts'
import { modulesRoutes } from '../routes/fleet/modules-routes.ts'
import { shardsRoutes } from '../routes/fleet/shards-routes.ts'
import { upgradesRoutes } from '../routes/fleet/upgrades-routes.ts'
import { healthRoutes } from '../routes/health-routes.ts'
import { aclsRoutes } from '../routes/identity/acls-routes.ts'
import { auditRoutes } from '../routes/identity/audit-routes.ts'
import { clusterRoutes } from '../routes/identity/cluster-routes.ts'
import { openRoutes } from '../routes/identity/open-routes.ts'
import { rolesRoutes } from '../routes/identity/roles-routes.ts'
import { sessionsRoutes } from '../routes/identity/sessions-routes.ts'
import { passwordsRoutes, usersRoutes } from '../routes/identity/users-routes.ts'
import { engineFetchesRoutes } from '../routes/nodes/engine-fetches-routes.ts'
import { nodeStatusRoutes } from '../routes/nodes/node-status-routes.ts'
import { nodesRoutes } from '../routes/nodes/nodes-routes.ts'
import { metricsRoute, type Readers } from '../routes/observe/metrics-routes.ts'
import { statisticsRoutes } from '../routes/observe/statistics-routes.ts'
import { createClusterEvents } from '../routes/stream/cluster-events.ts'
import { eventsRoutes } from '../routes/stream/events-routes.ts'
import { tlsRoutes } from '../routes/tls-routes.ts'
import { wrapFailureAfterCommit } from '../store/wrap-failure-after-commit.ts'
import type { Identity } from './assemble-identity.ts'
import type { Reconciling } from './assemble-reconciling.ts'
import type { Infrastructure } from './open-infrastructure.ts'
import { hostsOfApi } from './serve-https.ts'

/** Returns the mounted API, not yet listening. The caller closes it. */
export function serveApi(
  ground: Infrastructure,
  identity: Identity,
  reconciling: Reconciling,
): FastifyInstance {
  const { config, log } = ground
  const readers = readersOfMetrics(ground, identity)
  const { identify, onRefused } = readers
  const files = readConsole(consoleFolder)
  let isStopping = false
  const http = createHttp({
    identify,
    onRefused,
    log,
    first(app) {
      app.addHook('preClose', async () => {
        isStopping = true
      })
      watchRequests(app, ground)
    },
    hostNames: [...config.hostNames, ...(hostsOfApi(config) ?? [])],
    mostConnections: config.mostConnections ?? mostByFiles(readFileLimit()),
    pageAt: (request, reply) => answerWithPage(request, reply, files),
  })
  consoleRoutes(http, files)
  metricsRoute(http, reconciling.metrics, readers)
  const mount = mountOn(http, wrapFailureAfterCommit)
  mountIdentity(mount, ground, identity)
  const judge = createRuleJudge({
    acls: aclRecords(ground.store),
    roles: identity.roles,
    databases: reconciling.databases,
    judgeRules: reconciling.observer.judgeRules,
  })
  aclsRoutes(mount, createAcls({ store: ground.store, judge: judge.judge, now: ground.now }))
  mountDatabases(mount, ground, identity, reconciling, judge)
  tlsRoutes(mount, reconciling.tls, reconciling.nudgeAll)
  modulesRoutes(mount, reconciling.modules)
  clusterRoutes(mount, identity.cluster, reconciling.nodes, softwareVersion)
  openRoutes(mount, identity.cluster, reconciling.databases, reconciling.nodes)
  nodesRoutes(mount, reconciling.nodes, reconciling.databases, softwareVersion, reconciling.reach)
  engineFetchesRoutes(mount, reconciling.nodes, identity.counter)
  nodeStatusRoutes(mount, reconciling.nodes, reconciling.databases, softwareVersion)
  healthRoutes(mount, { cluster: identity.cluster, nodes: reconciling.nodes, isStopping: () => isStopping })
  statisticsRoutes(mount, reconciling.statistics, reconciling.databases)
  const document = toOpenApi(operations, softwareVersion)
  mount(getOpenApi, async () => document)
  return http
}

/** Authorizes requests: users of the cluster, and the scrape token for metrics. */
function readersOfMetrics({ folder, store, now }: Infrastructure, identity: Identity): Readers {
  const { tokens, browserSessions: sessions, identities, logins, counter } = identity
  return {
    token: openScrapeToken(join(folder, 'metrics.token')),
    identify: createIdentify({ store, tokens, sessions, identities, logins, now }),
    async onRefused(caller, permission, uid) {
      const about = uid !== undefined && { databaseUid: uid }
      await counter.record({
        type: 'permission_refused',
        by: actorOf(caller),
        ...about,
        details: { permission },
      })
      const isSeen = uid !== undefined && may(caller.user, 'view_bdb_info', uid)
      return isSeen ? (await databasesStore(store.db).get(uid))?.name : undefined
    },
  }
}

/** Counts requests, and traces them if traces are configured. */
function watchRequests(http: FastifyInstance, { config: { traces }, counters, spans }: Infrastructure): void {
  countAnswers(http, counters)
  if (traces !== null && spans !== null) traceRequests(http, spans.record, traces)
}

function mountIdentity(mount: Mount, { store, now }: Infrastructure, identity: Identity): void {
  const { identities, keys, tokens, counter, logins, passwords, userPasswords, roles } = identity
  const sessions = createSessions({ store, logins, tokens, identities, counter, now })
  sessionsRoutes(mount, sessions, identity.browserSessions, keys)
  passwordsRoutes(mount, passwords)
  usersRoutes(mount, createUsers({ store, passwords: userPasswords, identities, logins, now }), roles)
  rolesRoutes(mount, roles)
}

function mountDatabases(
  mount: Mount,
  { store, eventMarks, agent, proxy, now, log }: Infrastructure,
  { counter, audit }: Identity,
  reconciling: Reconciling,
  judge: RuleJudge,
): void {
  const { databases, modules, nodes, trials, tls, nudge } = reconciling
  const { look, probeAsClient } = reconciling.observer
  const feed = createEventFeed(store)
  const actions = createActions({ store, now, feed })
  const events = createClusterEvents({ store, marks: eventMarks, feed, databases, nodes, now, log })
  eventsRoutes(mount, events, databases)
  const hints = createUpgradeHints({ nodes, modules, now })
  shardsRoutes(mount, createShards({ store, databases, nodes, look }))
  const backups = createBackups({ databases, agent, counter, now })
  backupsRoutes(mount, backups)
  const endpoints = createEndpoints({ databases, proxy, agent, tls, probeAsClient, look, time: realTime })
  endpointsRoutes(mount, endpoints, createCommands({ databases, tls, counter, askAsClient }))
  databasesRoutes(mount, {
    databases,
    hints,
    counter,
    changes: createDatabaseChanges({ store, databases, modules, judge, now, look, nudge, time: realTime }),
    judge,
    deletions: createDeletions({ databases, endpoints, look }),
    backups,
  })
  upgradesRoutes(mount, createUpgrades({ databases, nodes, modules, actions, look, tryRuns: trials.tryRuns }))
  actionsRoutes(mount, actions, createOrders({ store, databases, nudge, now }))
  auditRoutes(mount, audit, databases, actions.databaseOf)
}
