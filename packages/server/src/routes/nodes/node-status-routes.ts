import {
  checkCluster,
  checkNode,
  getAccess,
  getNodeStatus,
  listClusterActions,
  listNodeActions,
  listNodeStatuses,
  listNodesActions,
  type NodeReport,
  type Output,
  Refusal,
} from '@fairlead/api'
import type { Principal } from '../../core/identity/access.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { Mount } from '../../http/mount.ts'
import type { ListedNode, Nodes } from '../../nodes/nodes-service.ts'
import { seesShards } from './nodes-routes.ts'

/** Serves checks of nodes, which the wider API's programs make before a change. */
export function nodeStatusRoutes(
  mount: Mount,
  nodes: Pick<Nodes, 'list'>,
  databases: Pick<Databases, 'shardsOf' | 'primaries'>,
  softwareVersion: string,
): void {
  const find = async (uid: number) => {
    const found = (await nodes.list()).find((node) => node.uid === uid)
    if (found === undefined) throw new Refusal('node_not_exist', `node ${uid} does not exist`)
    return found
  }
  const statusFor = async (user: Principal) => {
    const isVisible = await seesShards(user, databases)
    const primaries = new Set(await databases.primaries())
    return (node: ListedNode) => statusOf(node, { isVisible, primaries, softwareVersion })
  }
  mount(listNodeStatuses, async (_, { user }) => {
    const status = await statusFor(user)
    return Object.fromEntries((await nodes.list()).map((node) => [String(node.uid), status(node)]))
  })
  mount(getNodeStatus, async ({ params }, { user }) => {
    const node = await find(params.uid)
    return (await statusFor(user))(node)
  })

  mount(checkCluster, async () => {
    const checked = (await nodes.list()).map(check)
    return { cluster_test_result: checked.every(({ result }) => result), nodes: checked }
  })
  mount(checkNode, async ({ params }) => check(await find(params.uid)))

  mount(listClusterActions, async () => ({ actions: [] }))
  mount(listNodesActions, async () => ({ actions: [] }))
  mount(listNodeActions, async ({ params }) => {
    await find(params.uid)
    return { actions: [] }
  })

  mount(getAccess, async () => {
    const [node] = await nodes.list()
    return { master_node_addr: node?.host ?? '' }
  })
}

function statusOf(
  { host, report, known }: ListedNode,
  seen: {
    readonly isVisible: (shard: number) => boolean
    readonly primaries: ReadonlySet<number>
    readonly softwareVersion: string
  },
): Output<typeof getNodeStatus> {
  const shards = known?.shards.map(({ id }) => Number(id.slice(1))).filter(seen.isVisible) ?? []
  return {
    hostname: host,
    node_status: report === null ? 'down' : 'active',
    role: 'master',
    ...(known !== null && {
      cores: known.cores,
      total_memory: known.memoryTotalBytes,
      free_ram: known.memoryFreeBytes,
      master_shards: shards.filter((id) => seen.primaries.has(id)),
      slave_shards: shards.filter((id) => !seen.primaries.has(id)),
    }),
    software_version: seen.softwareVersion,
  }
}

/** Does not name shards: the caller may be limited to some databases. */
function check({ uid, report }: ListedNode): Output<typeof checkNode> {
  const error = report === null ? 'the agent does not answer' : wrongWith(report)
  return { node_uid: String(uid), result: error === undefined, ...(error !== undefined && { error }) }
}

function wrongWith({ proxy, shards }: NodeReport): string | undefined {
  if (proxy.state !== 'running') return `the proxy, which serves the endpoints, is ${proxy.state}`
  const away = shards.filter(({ state, silence }) => state !== 'running' || silence?.isLong === true).length
  return away === 0 ? undefined : `of ${shards.length} shards, ${away} do not run, or do not answer`
}
