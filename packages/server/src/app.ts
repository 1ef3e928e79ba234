import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { agentOperations, getOpenApi, operations, toOpenApi } from '@fairlead/api'
import type { Logger } from 'pino'
import { actionsRoutes } from './actions/actions-routes.ts'
import { createActions } from './actions/actions-service.ts'
import { actionsStore } from './actions/actions-store.ts'
import { handoversStore } from './actions/handovers-store.ts'
import { agentSocket, type Config } from './config.ts'
import { databasesRoutes } from './databases/databases-routes.ts'
import { createDatabases } from './databases/databases-service.ts'
import { databasesStore } from './databases/databases-store.ts'
import { shardsStore } from './databases/shards-store.ts'
import { createHttp } from './http/create-http.ts'
import { mountOn } from './http/mount.ts'
import { connectAgent } from './nodes/agent-link.ts'
import { nodesRoutes } from './nodes/nodes-routes.ts'
import { createNodes } from './nodes/nodes-service.ts'
import { createReconciler } from './reconcile/create-reconciler.ts'
import { createEffect } from './reconcile/deps.ts'
import { createEngines } from './reconcile/engines.ts'
import { openStore } from './store/open-store.ts'
import { upgradesRoutes } from './upgrades/upgrades-routes.ts'
import { createUpgrades } from './upgrades/upgrades-service.ts'
import { createPasswords } from './users/passwords.ts'
import { signingKeysStore } from './users/signing-keys-store.ts'
import { createTokens } from './users/tokens.ts'
import { usersRoutes } from './users/users-routes.ts'
import { createUsers } from './users/users-service.ts'
import { usersStore } from './users/users-store.ts'
import { softwareVersion } from './version.ts'

export interface ControlPlane extends AsyncDisposable {
  /** Where the API is served. */
  readonly url: string
  /** Only on the first start, and only when none was given: to be shown once. */
  readonly generatedPassword: string | undefined
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
  const store = opened.use(await openStore(join(config.home, 'store.db')))
  const agent = connectAgent(agentOperations, agentSocket(config.home))
  const engines = opened.use(createEngines())

  const tokens = await createTokens(signingKeysStore(store.db), now)
  const users = createUsers({ store: usersStore(store.db), passwords: await createPasswords(), tokens, now })
  const { generatedPassword } = await users.ensureAdmin(config.adminUsername, config.adminPassword)

  const loop = opened.use(
    await createReconciler({
      store,
      databases: databasesStore(store.db),
      shards: shardsStore(store.db),
      actions: actionsStore(store.db),
      handovers: handoversStore(store.db),
      agent,
      engines,
      portRange: config.portRange,
      now,
      log,
      effect: createEffect((phase, name) => {
        log.debug({ phase, name }, 'effect')
        world.onEffect?.(phase, name)
      }),
    }),
  )

  const nodes = createNodes(agent)
  const databases = createDatabases({ store, nodes, nudge: loop.nudge, now })

  const http = createHttp({ whois: users.whois, log })
  opened.defer(() => http.close())
  const mount = mountOn(http)
  usersRoutes(mount, users)
  databasesRoutes(mount, databases)
  upgradesRoutes(mount, createUpgrades({ databases, nodes }))
  actionsRoutes(mount, createActions({ store }))
  nodesRoutes(mount, nodes, softwareVersion)
  mount(getOpenApi, async () => toOpenApi(operations, softwareVersion))
  const url = await http.listen({ host: '127.0.0.1', port: config.httpPort })

  const owned = opened.move()
  return { url, generatedPassword, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
