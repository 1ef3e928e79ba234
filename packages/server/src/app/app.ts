import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Refusal } from '@fairlead/api'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { operatorSocket } from '../config/sockets.ts'
import { softwareVersion } from '../config/version.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import { createHttp } from '../http/create-http.ts'
import { listenOnPort, type PortRetry } from '../http/listen-on-port.ts'
import { mountOn } from '../http/mount.ts'
import type { HashCost } from '../identity/hashing/hashing.ts'
import { operatorModulesRoutes } from '../routes/fleet/modules-routes.ts'
import { operatorRoutes, type Served } from '../routes/operator-routes.ts'
import { operatorTlsRoutes } from '../routes/tls-routes.ts'
import { wrapFailureAfterCommit } from '../store/wrap-failure-after-commit.ts'
import { assembleIdentity, type Identity } from './assemble-identity.ts'
import { assembleReconciling, type Reconciling } from './assemble-reconciling.ts'
import { openInfrastructure } from './open-infrastructure.ts'
import { serveApi } from './serve-api.ts'
import { type Https, serveHttps } from './serve-https.ts'

/** A running server. Disposing stops it and everything that it opened. */
export interface ControlPlane extends AsyncDisposable {
  /** Base URL of the API. */
  readonly url: string
  /** Null: FAIRLEAD_HTTPS_PORT is 0, or another program has that port. */
  readonly https: Https | null
  /** Generated on the first start if none was given: print it once. */
  readonly generatedPassword: string | undefined
  /** No user can sign in until the cluster is created through the API. */
  readonly waitsToBeCreated: boolean
  /** The generated secret for that: print it. */
  readonly bootstrapSecret: string | undefined
}

/** Dependencies besides the configuration. */
export interface World {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Logger
  /** Called just before and just after every effect. Tests end the process here. */
  readonly onEffect?: (phase: 'before' | 'after', name: string) => void
  /** Aborts a start that waits for its store or port. No effect later: dispose of the server instead. */
  readonly stop?: AbortSignal
  /** Cost of a password hash. Default: OWASP's parameters. Only tests set it. */
  readonly hashCost?: HashCost
}

/**
 * Builds and starts the server; everything is wired here and in the files that it calls. If a step fails,
 * everything opened is closed in reverse order.
 */
export async function createControlPlane(config: Config, world: World): Promise<ControlPlane> {
  await using opened = new AsyncDisposableStack()

  const ground = await openInfrastructure(config, world, opened)
  const identity = await assembleIdentity(ground, opened)
  let hasStarted = false
  // After the API is closed: a store that does not answer must not keep it open.
  opened.defer(async () => {
    if (hasStarted) await identity.counter.record({ type: 'server_stopped', by: fairlead })
  })
  const reconciling = await assembleReconciling(ground, identity, world.onEffect, opened)

  const http = serveApi(ground, identity, reconciling)
  const ended = opened.use(new AsyncDisposableStack())
  opened.defer(() => http.close())
  let served: Served = { notYet: 'the server is starting; try again in a moment' }
  const local = serveOperator(world.log, identity, reconciling, { now: world.now, served: () => served })
  opened.defer(() => local.close())
  await listenOnSocket(local, operatorSocket(config.home))

  const { cluster, bootstrap } = identity
  const patience = (await cluster.settings()).createdAt === null ? undefined : createPortRetry(world, opened)
  const https = await serveHttps(ground, reconciling.tls, http, patience, ended)
  const { httpAddress: host, httpPort: port } = config
  const settings = { host: 'FAIRLEAD_HTTP_ADDRESS', port: 'FAIRLEAD_HTTP_PORT' }
  const onTaken = (why: string) => {
    patience?.onTaken(why)
    served = { notYet: `its API is not served yet: ${why}; databases are looked after meanwhile` }
  }
  const waiting = { patience: patience && { ...patience, onTaken } }
  const url = await listenOnPort((place) => http.listen(place), { host, port, settings }, waiting)
  served = { url }
  // Last: if the start failed after this, a generated password would never be shown.
  const { generatedPassword } = await cluster.ensure(config.adminUsername, config.adminPassword)

  const { createdAt } = await cluster.settings()
  await identity.counter.record({
    type: 'server_started',
    by: fairlead,
    details: { version: softwareVersion },
  })
  hasStarted = true
  const owned = opened.move()
  return {
    url,
    https,
    generatedPassword,
    waitsToBeCreated: createdAt === null,
    bootstrapSecret: (createdAt === null ? bootstrap?.generated : null) ?? undefined,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Retries a taken port once the server is created: local users must not keep it from its databases. */
function createPortRetry({ log, stop }: World, opened: AsyncDisposableStack): PortRetry {
  const ended = new AbortController()
  opened.defer(() => ended.abort())
  return {
    onTaken: (why) =>
      log.warn({ why }, 'a port of the API is not served yet and tried again; databases are looked after'),
    stop: stop === undefined ? ended.signal : AbortSignal.any([stop, ended.signal]),
  }
}

/** Returns the mounted API of the operator's socket, not yet listening. The caller closes it. */
function serveOperator(
  log: Logger,
  { audit, passwords, keys, tokens, cluster }: Identity,
  { modules, tls }: Reconciling,
  { now, served }: { readonly now: () => number; readonly served: () => Served },
): FastifyInstance {
  const local = createHttp({ identify: nobody, onRefused: async () => undefined, log })
  const mount = mountOn(local, wrapFailureAfterCommit)
  operatorRoutes(mount, { audit, passwords, keys, tokens, cluster, now, served })
  operatorModulesRoutes(mount, modules)
  operatorTlsRoutes(mount, tls)
  return local
}

/** This socket has no user names: access to it is the permission. */
function nobody(): never {
  throw new Refusal('unauthorized')
}

/**
 * Listens where only the owner of FAIRLEAD_HOME may connect. An existing socket belongs to a dead server,
 * because this one holds the store's lock.
 */
async function listenOnSocket(local: FastifyInstance, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  await local.listen({ path })
  chmodSync(path, 0o600)
}
