import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Refusal } from '@fairlead/api'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createHttp } from '../http/create-http.ts'
import { mountOn } from '../http/mount.ts'
import { operatorModulesRoutes } from '../routes/fleet/modules-routes.ts'
import { operatorRoutes, type Served } from '../routes/operator-routes.ts'
import { operatorTlsRoutes } from '../routes/tls-routes.ts'
import { wrapFailureAfterCommit } from '../store/wrap-failure-after-commit.ts'
import type { Identity } from './assemble-identity.ts'
import type { Reconciling } from './assemble-reconciling.ts'

/** Returns the mounted API of the operator's socket, not yet listening. The caller closes it. */
export function serveOperator(
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
export async function listenOnSocket(local: FastifyInstance, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  await local.listen({ path })
  chmodSync(path, 0o600)
}
