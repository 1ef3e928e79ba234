import { getHealth, getReadiness, Refusal } from '@fairlead/api'
import type { Mount } from '../http/mount.ts'
import type { Cluster } from '../identity/cluster/cluster-service.ts'
import { holdFor } from '../identity/cluster/hold-for.ts'
import type { Nodes } from '../nodes/nodes-service.ts'

/** No token is needed: floods of requests must not reach the agent. */
const HOLDS_MS = 500

/** Serves probes of supervisors and load balancers. `isStopping`: no new connections. */
export function healthRoutes(
  mount: Mount,
  deps: {
    readonly cluster: Pick<Cluster, 'settings'>
    readonly nodes: Pick<Nodes, 'ready'>
    readonly isStopping: () => boolean
  },
): void {
  const { cluster, nodes, isStopping } = deps
  mount(getHealth, async () => ({ status: 'ok' as const }))

  const isReady = holdFor(HOLDS_MS, async () => {
    await cluster.settings() // throws if the store is unreachable
    return nodes.ready()
  })
  mount(getReadiness, async () => {
    if (isStopping()) throw new Refusal('unavailable', 'this server is stopping')
    if (!(await isReady())) throw new Refusal('unavailable', 'the agent does not answer')
    return { status: 'ok' as const }
  })
}
