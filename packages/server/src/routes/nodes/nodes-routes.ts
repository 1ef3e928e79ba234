import {
  type FoundBuild,
  getNode,
  type Input,
  listEngineVersions,
  listNodes,
  type Node,
  type NodeReport,
  type Output,
  Refusal,
} from '@fairlead/api'
import { compareVersions, runsForeignCode } from '@fairlead/engine'
import { databasesFor, may, type Principal } from '../../core/identity/access.ts'
import { pageInMemory } from '../../core/requests/list-order.ts'
import { buildForNew } from '../../core/requests/resolve-database.ts'
import type { EndpointReach } from '../../core/state/endpoint-reach.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import { listPages } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import type { ListedNode, Nodes } from '../../nodes/nodes-service.ts'

type Wire = Output<typeof getNode>
type By = 'uid' | 'addr' | 'free_memory' | 'shard_count'

const placeOf = (node: Wire, by: By) => ({ value: node[by] ?? 0, uid: node.uid })
const pages = listPages<By, Wire>({
  list: 'nodes',
  sorts: { uid: 'number', addr: 'text', free_memory: 'number', shard_count: 'number' },
  usual: 'uid',
  placeOf,
})

/** Serves nodes and engine builds. */
export function nodesRoutes(
  mount: Mount,
  nodes: Nodes,
  databases: Pick<Databases, 'shardsOf'>,
  softwareVersion: string,
  reach: () => EndpointReach,
): void {
  const list = async (user: Principal) => {
    const isVisible = await seesShards(user, databases)
    // Lists nodes without an agent, too. Both questions run in parallel, so a stopped agent costs one
    // deadline.
    const [builds, listed] = await Promise.all([nodes.knownBuilds(), nodes.list()])
    return listed.map((node) => toWire(node, { builds, isVisible, softwareVersion, reach: reach() }))
  }
  mount(listNodes, async ({ query }, { user }) => {
    const chosen = (await list(user)).filter((node) => isChosen(node, query))
    return pages.answer(pageInMemory(chosen, pages.read(query), placeOf), query)
  })

  mount(getNode, async ({ params }, { user }) => {
    const node = (await list(user)).find(({ uid }) => uid === params.uid)
    if (node === undefined) throw new Refusal('node_not_exist', `node ${params.uid} does not exist`)
    return node
  })

  mount(listEngineVersions, async () => {
    const builds = await nodes.builds('soon')
    const forNew = buildForNew(builds)
    return builds.map((build) => ({
      engine: build.flavour,
      engine_version: build.version,
      source: build.source,
      latest: isLatest(build, builds),
      recommended: build.flavour === forNew?.flavour && build.version === forNew.version,
      ...(build.package !== undefined && { package: build.package }),
      ...(build.suite !== undefined && { suite: build.suite }),
      insecure: build.holes.some(runsForeignCode),
      known_holes: [...build.holes],
    }))
  })
}

function isChosen(
  { uid, addr, status: has }: Wire,
  { q, status }: Input<typeof listNodes>['query'],
): boolean {
  if (status !== undefined && status !== has) return false
  return q === undefined || addr.toLowerCase().includes(q.toLowerCase()) || String(uid) === q
}

function toWire(
  { uid, host, report, known }: ListedNode,
  seen: {
    readonly builds: readonly FoundBuild[]
    readonly isVisible: (shard: number) => boolean
    readonly softwareVersion: string
    readonly reach: EndpointReach
  },
): Wire {
  return {
    uid,
    addr: host,
    external_addr: [...seen.reach.addresses],
    missing_addr: [...seen.reach.missing],
    accept_servers: report !== null,
    rack_id: '',
    status: report === null ? 'down' : 'active',
    ...(known !== null && {
      cores: known.cores,
      total_memory: known.memoryTotalBytes,
      free_memory: known.memoryFreeBytes,
      free_disk: known.diskFreeBytes,
      shard_count: known.shards.length,
      shard_list: known.shards.map(({ id }) => Number(id.slice(1))).filter(seen.isVisible),
    }),
    ...wallOf(report),
    software_version: seen.softwareVersion,
    supported_database_versions: seen.builds.map(versionToWire),
  }
}

function wallOf(report: NodeReport | null) {
  const missing =
    report === null
      ? 'the agent does not answer'
      : report.noWall === undefined
        ? 'the agent is older'
        : report.noWall
  return { engine_wall: missing === null, engine_wall_missing: missing ?? '' }
}

/** Returns which shards a user may see, by number: all, or those of its roles' databases. */
export async function seesShards(
  user: Principal,
  databases: Pick<Databases, 'shardsOf'>,
): Promise<(shard: number) => boolean> {
  if (may(user, 'view_all_nodes_info', NO_DATABASE)) return () => true
  const own = new Set(await databases.shardsOf(databasesFor(user, 'view_bdb_info') ?? []))
  return (shard) => own.has(shard)
}

/** Means all databases: hidden from users limited to some. */
const NO_DATABASE = 0

function isLatest(build: FoundBuild, builds: readonly FoundBuild[]): boolean {
  return builds.every(
    (other) => other.flavour !== build.flavour || compareVersions(other.version, build.version) <= 0,
  )
}

/** A build in answers about nodes. */
export function versionToWire({
  flavour,
  version,
}: Pick<FoundBuild, 'flavour' | 'version'>): Node['supported_database_versions'][number] {
  return { db_type: flavour, version, redis_version: version.split('.', 2).join('.') }
}
