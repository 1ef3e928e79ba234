import { Refusal } from '@fairlead/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Caller, databasesFor } from '../../core/identity/access.ts'
import type { OnRefused } from '../../http/authenticate.ts'
import type { Identify } from '../../identity/sessions/identify.ts'
import { splitScheme } from '../../identity/sessions/read-basic.ts'
import type { ScrapeToken } from '../../observe/metrics/scrape-token.ts'
import { TEXT_TYPE } from '../../observe/metrics/write-text.ts'

/** Authorizes requests for metrics. */
export interface Readers {
  readonly token: ScrapeToken
  readonly identify: Identify
  readonly onRefused: OnRefused
}

const PERMISSION = 'view_cluster_stats'

/**
 * Serves `/metrics` to the scrape token and to users who may see the cluster's statistics. Not in the
 * contract, since its answer is no JSON.
 */
export function metricsRoute(http: FastifyInstance, read: () => Promise<string>, readers: Readers): void {
  http.get('/metrics', async (request, reply) => {
    await admit(request, readers)
    void reply.header('cache-control', 'no-store').type(TEXT_TYPE)
    return await read()
  })
}

async function admit(request: FastifyRequest, { token, identify, onRefused }: Readers): Promise<void> {
  const { authorization } = request.headers
  const { scheme, rest } = splitScheme(authorization ?? '')
  if (scheme === 'bearer' && (await token.fits(rest))) return
  const caller = await identify(authorization, { address: request.ip }, { admitsExpired: false })
  if (seesAll(caller)) return
  await onRefused(caller, PERMISSION, undefined)
  throw new Refusal(
    'forbidden',
    `the roles of ${caller.user.name} lack the permission ${PERMISSION} for all databases`,
  )
}

function seesAll({ user }: Caller): boolean {
  return databasesFor(user, PERMISSION) === null
}
