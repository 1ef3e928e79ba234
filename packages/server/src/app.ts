import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentOperations, getOpenApi, operations, proxyOperations, Refusal, toOpenApi } from '@fairlead/api'
import { knowUsersOfPorts, usersOfPortsFile } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { actionsRoutes } from './actions/actions-routes.ts'
import { createActions } from './actions/actions-service.ts'
import { ordersRoutes } from './actions/orders-routes.ts'
import { createOrders } from './actions/orders-service.ts'
import { createAuditCounter } from './audit/audit-counter.ts'
import { openAuditFiles } from './audit/audit-files.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { createAudit } from './audit/audit-service.ts'
import { keepAudit } from './audit/keep-audit.ts'
import { readBootstrapSecret } from './cluster/bootstrap-secret.ts'
import { clusterRoutes } from './cluster/cluster-routes.ts'
import { createCluster } from './cluster/cluster-service.ts'
import type { Config } from './config.ts'
import { actorOf } from './core/identity/access.ts'
import { databasesRoutes } from './databases/databases-routes.ts'
import { createDatabases } from './databases/databases-service.ts'
import { limitsRoutes } from './databases/limits-routes.ts'
import { createLimitChanges } from './databases/limits-service.ts'
import { endpointsRoutes } from './endpoints/endpoints-routes.ts'
import { createEndpoints } from './endpoints/endpoints-service.ts'
import { mostByFiles, readFileLimit } from './http/bound-connections.ts'
import { createHttp } from './http/create-http.ts'
import { listenOnPort } from './http/listen-on-port.ts'
import { mountOn } from './http/mount.ts'
import { openModuleFiles } from './modules/module-files.ts'
import { modulesRoutes, operatorModulesRoutes } from './modules/modules-routes.ts'
import { createModules } from './modules/modules-service.ts'
import { modulesStore } from './modules/modules-store.ts'
import { connectAgent, TRIAL_WITHIN_MS } from './nodes/agent-link.ts'
import { nodesRoutes } from './nodes/nodes-routes.ts'
import { createNodes } from './nodes/nodes-service.ts'
import { connectProxy } from './nodes/proxy-link.ts'
import { operatorRoutes } from './operator/operator-routes.ts'
import { createHashing } from './passwords/hashing.ts'
import { passwordsRoutes } from './passwords/passwords-routes.ts'
import { createPasswords } from './passwords/passwords-service.ts'
import { createUserPasswords } from './passwords/user-passwords.ts'
import { createSight } from './reconcile/look/sight.ts'
import { createReconciler } from './reconcile/loop/create-reconciler.ts'
import { storedRecords } from './reconcile/records/stored-records.ts'
import { createTurns } from './reconcile/turn/create-turns.ts'
import { createEffect } from './reconcile/turn/effect.ts'
import { createEngines } from './reconcile/turn/engines.ts'
import { createTrials } from './reconcile/turn/trials.ts'
import { rolesRoutes } from './roles/roles-routes.ts'
import { createRoles } from './roles/roles-service.ts'
import { createGuessBudgets } from './sessions/guess-budgets.ts'
import { createIdentify } from './sessions/identify.ts'
import { createIdentities } from './sessions/identities.ts'
import { createLogins } from './sessions/logins.ts'
import { sessionsRoutes } from './sessions/sessions-routes.ts'
import { createSessions } from './sessions/sessions-service.ts'
import { createSigningKeys } from './sessions/signing-keys.ts'
import { createSources } from './sessions/sources.ts'
import { createTokens } from './sessions/tokens.ts'
import { agentSocket, operatorSocket, proxySocket } from './sockets.ts'
import { openStore } from './store/open-store.ts'
import { sealAll } from './store/seal-all.ts'
import { createSecretBox, readStoreKey } from './store/secret-box.ts'
import { operatorTlsRoutes, tlsRoutes } from './tls/tls-routes.ts'
import { createTls } from './tls/tls-service.ts'
import { upgradesRoutes } from './upgrades/upgrades-routes.ts'
import { createUpgrades } from './upgrades/upgrades-service.ts'
import { usersRoutes } from './users/users-routes.ts'
import { createUsers } from './users/users-service.ts'
import { softwareVersion } from './version.ts'

export interface ControlPlane extends AsyncDisposable {
  /** Where the API is served. */
  readonly url: string
  /** Only on the first start, and only when none was given: to be shown once. */
  readonly generatedPassword: string | undefined
  /** Nobody can sign in before somebody creates the cluster through the API. */
  readonly waitsToBeCreated: boolean
  /** What that takes, where nobody has chosen it: to be shown. */
  readonly bootstrapSecret: string | undefined
}

/** What the control plane takes from outside, besides its configuration. */
export interface World {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Logger
  /** Sees every effect just before and just after it. Tests end the process here. */
  readonly onEffect?: (phase: 'before' | 'after', name: string) => void
}

/**
 * Builds the server and starts it: the only place where things meet. Read it top to bottom. What it opened is closed
 * again in reverse, also when it fails half-way.
 */
export async function createControlPlane(config: Config, world: World): Promise<ControlPlane> {
  await using opened = new AsyncDisposableStack()
  const { now, log } = world

  mkdirSync(config.home, { recursive: true, mode: 0o700 })
  opened.use(knowUsersOfPorts(usersOfPortsFile(join(config.home, 'proxy'))))
  const readBox = () => createSecretBox(config.storeKey ?? readStoreKey(join(config.home, 'store.key')))
  const store = opened.use(await openStore(join(config.home, 'store.db'), readBox))
  const box = readBox()
  const agent = connectAgent(agentOperations, agentSocket(config.home))
  const proxy = connectProxy(proxyOperations, proxySocket(config.home))
  const engines = opened.use(createEngines())

  const hashing = await createHashing()
  const identities = createIdentities(store, now)
  const keys = opened.use(
    await createSigningKeys({
      store,
      box,
      rotateEveryMs: config.keyRotationDays * DAY_MS,
      now,
      log,
    }),
  )
  // They opened, so the key is the one of this store.
  await sealAll(store)
  const tokens = createTokens(keys, now, config.sessionHours * 3_600_000)
  const counter = createAuditCounter(store, now)
  const sourceOf = createSources()
  const budgets = createGuessBudgets(now)
  const logins = createLogins({ store, hashing, identities, sourceOf, budgets, counter, now })
  const userPasswords = createUserPasswords({ store, hashing, now })
  const passwords = createPasswords({
    ...{ store, hashing, identities, logins, now },
    passwords: userPasswords,
  })
  const bootstrap =
    config.bootstrap === 'manual'
      ? readBootstrapSecret(join(config.home, 'bootstrap.secret'), config.bootstrapSecret)
      : null
  const cluster = createCluster({ store, passwords: userPasswords, bootstrap, now })
  const roles = createRoles({ store, identities, now })
  const auditFiles = openAuditFiles(config.home, box)
  const audit = createAudit(store, auditFiles)
  opened.use(
    await keepAudit({
      ...{ store, counter, now, log },
      files: auditFiles,
      retention: { days: config.auditDays, sealedBytes: config.auditMb * 1_000_000 },
    }),
  )

  const tls = createTls({ store, box, now, log })

  const moduleFiles = await openModuleFiles(config.home)
  const trials = createTrials({
    agent: connectAgent(agentOperations, agentSocket(config.home), TRIAL_WITHIN_MS),
    files: moduleFiles,
    modules: modulesStore(store.db),
    tls,
  })
  const reconciling = {
    ...storedRecords(store),
    agent,
    proxy,
    engines,
    trials,
    tls,
    shardTls: config.shardTls,
    portRange: config.portRange,
    inTurn: createTurns(),
    now,
    log,
    effect: createEffect((phase, name) => {
      log.debug({ phase, name }, 'effect')
      world.onEffect?.(phase, name)
    }),
  }
  const loop = opened.use(await createReconciler(reconciling))

  const nodes = createNodes(agent, cluster.settings)
  const modules = await createModules({
    ...{ store, now, settings: cluster.settings },
    files: moduleFiles,
    onFileGone: (sha256) => nodes.dropModule(sha256),
  })
  const databases = createDatabases({
    ...{ store, nodes, modules, now },
    nudge: loop.nudge,
    inTurn: reconciling.inTurn,
    portRange: config.portRange,
    askedPorts: config.askedPorts,
    shardTls: config.shardTls,
  })

  const http = createHttp({
    identify: createIdentify({ store, tokens, identities, logins, sourceOf, now }),
    onRefused: (caller, permission, databaseUid) =>
      counter.record({
        type: 'permission_refused',
        by: actorOf(caller),
        ...(databaseUid !== undefined && { databaseUid }),
        details: { permission },
      }),
    log,
    sourceOf,
    hostNames: config.hostNames,
    mostConnections: config.mostConnections ?? mostByFiles(readFileLimit()),
  })
  opened.defer(() => http.close())
  const mount = mountOn(http)
  sessionsRoutes(mount, createSessions({ store, logins, tokens, identities, counter, now }), keys)
  passwordsRoutes(mount, passwords)
  usersRoutes(mount, createUsers({ store, passwords: userPasswords, identities, logins, now }), roles)
  rolesRoutes(mount, roles)
  clusterRoutes(mount, cluster, nodes, softwareVersion)
  tlsRoutes(mount, tls)
  auditRoutes(mount, audit)
  modulesRoutes(mount, modules)
  databasesRoutes(mount, databases)
  const sight = createSight(reconciling)
  endpointsRoutes(mount, createEndpoints({ databases, proxy, agent, tls, knock: sight.knock }))
  limitsRoutes(
    mount,
    createLimitChanges({ ...{ store, databases, modules, now }, look: sight.look, nudge: loop.nudge }),
  )
  const actions = createActions({ store })
  const upgrades = createUpgrades({
    ...{ databases, nodes, modules, actions },
    look: sight.look,
    tryRuns: trials.tryRuns,
  })
  upgradesRoutes(mount, upgrades)
  actionsRoutes(mount, actions)
  ordersRoutes(mount, actions, createOrders({ store, databases, nudge: loop.nudge, now }))
  nodesRoutes(mount, nodes, databases, softwareVersion)
  const document = toOpenApi(operations, softwareVersion)
  mount(getOpenApi, async () => document)

  const local = createHttp({ identify: nobody, onRefused: async () => undefined, log })
  opened.defer(() => local.close())
  operatorRoutes(mountOn(local), { audit, passwords, keys })
  operatorModulesRoutes(mountOn(local), modules)
  operatorTlsRoutes(mountOn(local), tls)
  await listenOnSocket(local, operatorSocket(config.home))

  const url = await listenOnPort(http, config.httpPort)
  // Last: a password that is generated by a start that fails would be shown to nobody.
  const { generatedPassword } = await cluster.ensure(config.adminUsername, config.adminPassword)

  const { createdAt } = await cluster.settings()
  const owned = opened.move()
  return {
    url,
    generatedPassword,
    waitsToBeCreated: createdAt === null,
    bootstrapSecret: (createdAt === null ? bootstrap?.generated : null) ?? undefined,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** On the operator's socket nobody has a name: reaching it is the permission. */
function nobody(): never {
  throw new Refusal('unauthorized')
}

/** The store's lock says that no other server runs here: a socket that lies there is a dead one's. */
async function listenOnSocket(local: FastifyInstance, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  await local.listen({ path })
  chmodSync(path, 0o600)
}
