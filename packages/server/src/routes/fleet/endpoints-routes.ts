import {
  DEFAULT_LAG_TOLERANCE_MS,
  getAvailability,
  getEndpointStats,
  getLocalAvailability,
  giveCommand,
  listEndpointClients,
  Refusal,
} from '@fairlead/api'
import type { Commands } from '../../fleet/endpoints/commands-service.ts'
import type { Endpoints } from '../../fleet/endpoints/endpoints-service.ts'
import type { Mount } from '../../http/mount.ts'

/** Serves availability, counters and clients of endpoints, and commands to databases. */
export function endpointsRoutes(mount: Mount, endpoints: Endpoints, commands: Commands): void {
  for (const [operation, lagged] of [
    [getAvailability, 'bdb_unavailable'],
    [getLocalAvailability, 'bdb_endpoint_unavailable'],
  ] as const)
    mount(operation, async ({ params: { uid }, query }) => {
      const { extend_check: extended, availability_lag_tolerance_ms: tolerance } = query
      if (extended === undefined && tolerance !== undefined)
        throw new Refusal('invalid_request', 'availability_lag_tolerance_ms: needs extend_check=lag')
      await endpoints.check(uid)
      const lag = extended && (await endpoints.lag(uid, tolerance ?? DEFAULT_LAG_TOLERANCE_MS))
      if (lag !== undefined) throw new Refusal(lagged, lag)
      return { available: true as const }
    })

  mount(getEndpointStats, async ({ params }) => {
    const stats = await endpoints.stats(params.uid)
    return {
      port: stats.port,
      state: stats.state,
      why: stats.why,
      missing_addr: (stats.missing ?? []).map(({ host, why }) => ({ addr: host, why })),
      connections: stats.connections,
      commands: stats.commands,
      held_ms_total: stats.heldMsTotal,
      held_ms_last: stats.heldMsLast,
      repoints: stats.repoints,
      failed_holds: stats.failedHolds,
      errors: stats.errors,
      last_error: stats.lastError,
      doubted: stats.doubted?.count ?? 0,
      doubted_last: stats.doubted?.why ?? '',
    }
  })

  mount(listEndpointClients, async ({ params, query: { limit = 1_000, via } }) => {
    const { connections, clients } = await endpoints.clients(params.uid, {
      limit,
      ...(via !== undefined && { via }),
    })
    return {
      connections,
      clients: clients.map(({ connectedAt, ...client }) => ({
        ...client,
        connected_at: new Date(connectedAt).toISOString(),
      })),
    }
  })

  mount(giveCommand, async ({ params, body }, caller) => ({
    response: await commands.give(params.uid, body, caller),
  }))
}
