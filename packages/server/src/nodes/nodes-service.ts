import type { FoundBuild, NodeFacts, NodeReport, ShardReport } from '@fairlead/api'
import { type KnownHole, knownHoles, runsForeignCode } from '@fairlead/engine'
import type { Settings } from '../core/identity/settings.ts'
import { agentAway } from './agent-away.ts'
import { type AgentLink, AgentUnreachable, isDeclined } from './agent-link.ts'
import { agentName } from './agent-name.ts'
import { describeNode } from './describe-node.ts'
import { reportShards } from './report-shards.ts'

/** A build with what is known of its holes. */
export interface JudgedBuild extends FoundBuild {
  readonly holes: readonly KnownHole[]
  /** Ids of the holes for which no new database may use it. */
  readonly refusedFor: readonly string[]
}

/** The reports of the agents of all nodes, read at each call. */
export interface Nodes {
  /** Every node with its agent's report; null where the agent does not answer. One node until there are more. */
  list(): Promise<readonly { readonly uid: number; readonly report: NodeReport | null }[]>
  /** The node where a database would be, without its shards; null when its agent does not answer. */
  describe(): Promise<NodeFacts | null>
  /** What agents say of these shards; of those whose agent does not answer, nothing. */
  reportsOf(shardIds: readonly number[]): Promise<readonly ShardReport[]>
  /** The engine builds of the cluster. Throws Refusal unavailable when no agent answers. */
  builds(): Promise<readonly JudgedBuild[]>
  /** Can this port be listened on, on the node where a database would be? Throws Refusal unavailable. */
  isFree(port: number): Promise<boolean>
  /** Does every agent answer? */
  ready(): Promise<boolean>
  /** Lets every node drop a module file that nothing uses. One that is away keeps it; it does no harm. */
  dropModule(sha256: string): Promise<void>
}

/** People wait for it. */
const REPORTS_WITHIN_MS = 5_000

/** The only node there is: server and agent on one machine. */
const THIS_NODE = 1

/** `settings` says which engine builds are good enough for new databases. */
export function createNodes(
  agent: AgentLink,
  settings: () => Promise<Pick<Settings, 'unsoundEnginesAllowed'>>,
): Nodes {
  const describe = () => orNull(describeNode(agent))
  return {
    list: async () => [{ uid: THIS_NODE, report: await orNull(agent.reportNode({})) }],
    describe,
    async reportsOf(shardIds) {
      if (shardIds.length === 0) return []
      const asked = reportShards(shardIds.map(agentName), agent, AbortSignal.timeout(REPORTS_WITHIN_MS))
      return (await orNull(asked))?.shards ?? []
    },
    async builds() {
      const builds = await orNull(agent.listBuilds({}))
      if (builds === null) throw agentAway()
      const { unsoundEnginesAllowed } = await settings()
      return builds.map((build) => judge(build, unsoundEnginesAllowed))
    },
    async isFree(port) {
      const range = { from: port, to: port, except: [], alsoFree: [] }
      const found = await orNull(agent.findFreePort({ body: range }))
      if (found === null) throw agentAway()
      return found.port !== null
    },
    ready: async () => (await describe()) !== null,
    async dropModule(sha256) {
      await agent.removeModule({ params: { sha256 } }).catch((cause: unknown) => {
        if (!(cause instanceof AgentUnreachable) && !isDeclined(cause)) throw cause
      })
    },
  }
}

function judge(build: FoundBuild, isAllowed: boolean): JudgedBuild {
  const holes = knownHoles(build)
  return { ...build, holes, refusedFor: isAllowed ? [] : holes.filter(runsForeignCode).map(({ id }) => id) }
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof AgentUnreachable) return null
    throw cause
  }
}
