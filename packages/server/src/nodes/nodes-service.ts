import {
  type BuildFetch,
  type FoundBuild,
  type NodeFacts,
  type NodeReport,
  Refusal,
  type ShardReport,
  type WantedBuild,
} from '@fairlead/api'
import { type KnownHole, knownHoles, runsForeignCode } from '@fairlead/engine'
import type { Settings } from '../core/identity/settings.ts'
import { ENDPOINT_HOST } from '../core/state/endpoint-reach.ts'
import { agentAway } from './agent-away.ts'
import { type AgentLink, AgentUnreachable, isDeclined } from './agent-link.ts'
import { agentName } from './agent-name.ts'
import { describeNode } from './describe-node.ts'
import { isUnknownTo, reportShards } from './report-shards.ts'

/** A build with its known security holes. */
export interface JudgedBuild extends FoundBuild {
  readonly holes: readonly KnownHole[]
  /** Ids of holes that exclude it from new databases. */
  readonly refusedFor: readonly string[]
}

/** An agent's last report of its node, with only names of shards. */
export type KnownNode = NodeFacts & { readonly shards: readonly Pick<ShardReport, 'id'>[] }

/** A node as reported by its agent, now or last. */
export interface ListedNode {
  readonly uid: number
  readonly host: string
  /** Null: the agent does not answer. */
  readonly report: NodeReport | null
  /** The last report that this server got. Null: none yet. */
  readonly known: KnownNode | null
}

/** Reports of all nodes' agents, read on each call. */
export interface Nodes {
  /** Every node; there is one for now. */
  list(): Promise<readonly ListedNode[]>
  /** The node for a new database, without shards; null if its agent does not answer. */
  describe(): Promise<NodeFacts | null>
  /** Reports of these shards; null if the agent does not answer. */
  reportsOf(shardIds: readonly number[]): Promise<readonly ShardReport[] | null>
  /** Engine builds of the cluster. Throws Refusal unavailable if no agent answers; `soon`: within 2 s. */
  builds(soon?: 'soon'): Promise<readonly JudgedBuild[]>
  /** Like `builds`; without an agent, the last ones that this server knows. */
  knownBuilds(): Promise<readonly JudgedBuild[]>
  /** Begins to fetch a build, or returns the running fetch of it. Refuses: too_many_requests, unavailable. */
  startFetch(wanted: WantedBuild): Promise<BuildFetch>
  /** The running and last fetches of builds, the newest first. Throws Refusal unavailable. */
  fetches(): Promise<readonly BuildFetch[]>
  /** Returns whether a port is free on the node for a new database. Throws Refusal unavailable. */
  isFree(port: number): Promise<boolean>
  /** Returns whether every agent answers. */
  ready(): Promise<boolean>
  /** Asks every node to delete an unused module file. Unreachable nodes keep it, which is harmless. */
  dropModule(sha256: string): Promise<void>
}

/** People wait for it. A stopped agent never answers; one with a hundred busy shards takes a second. */
const ANSWERS_WITHIN_MS = 2_000
/** A report of thousands of shards takes longer. */
const REPORTS_WITHIN_MS = 5_000

/** The only node: server and agent are on one machine. */
const THIS_NODE = 1

/** `settings` limits the builds for new databases. */
export function createNodes(
  agent: AgentLink,
  settings: () => Promise<Pick<Settings, 'unsoundEnginesAllowed'>>,
): Nodes {
  const describe = () => orNull(describeNode(agent))
  const last: { node: KnownNode | null; builds: readonly FoundBuild[] } = { node: null, builds: [] }
  const buildsSoon = () => orNull(whileItAnswers(agent, (signal) => agent.listBuilds({}, { signal })))
  const judgeAll = async (builds: readonly FoundBuild[]) => {
    const { unsoundEnginesAllowed } = await settings()
    return builds.map((build) => judge(build, unsoundEnginesAllowed))
  }
  return {
    async list() {
      const report = await orNull(whileItAnswers(agent, (signal) => agent.reportNode({}, { signal })))
      if (report !== null) last.node = { ...report, shards: report.shards.map(({ id }) => ({ id })) }
      return [{ uid: THIS_NODE, host: last.node?.host ?? ENDPOINT_HOST, report, known: report ?? last.node }]
    },
    describe,
    async reportsOf(shardIds) {
      if (shardIds.length === 0) return []
      const names = shardIds.map(agentName)
      const reported = await orNull(whileItAnswers(agent, (signal) => reportShards(names, agent, signal)))
      return reported?.shards ?? null
    },
    async builds(soon) {
      const builds = await (soon === undefined ? orNull(agent.listBuilds({})) : buildsSoon())
      if (builds === null) throw agentAway()
      return judgeAll(builds)
    },
    async knownBuilds() {
      const builds = await buildsSoon()
      if (builds !== null) last.builds = builds
      return judgeAll(last.builds)
    },
    startFetch: (wanted) => orRefusal(agent.startFetch({ body: wanted })),
    fetches: () => orRefusal(agent.listFetches({})),
    async isFree(port) {
      const range = { from: port, to: port, except: [], alsoFree: [] }
      const found = await orNull(agent.findFreePort({ body: range }))
      if (found === null) throw agentAway()
      return found.port !== null
    },
    // A probe waits only a few seconds.
    ready: async () => (await orNull(describeNode(agent, AbortSignal.timeout(ANSWERS_WITHIN_MS)))) !== null,
    async dropModule(sha256) {
      await agent.removeModule({ params: { sha256 } }).catch((cause: unknown) => {
        if (!(cause instanceof AgentUnreachable) && !isDeclined(cause)) throw cause
      })
    },
  }
}

/** Throws AgentUnreachable after 2 s if the agent does not answer at all, however slow the question. */
async function whileItAnswers<T>(agent: AgentLink, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const end = new AbortController()
  const signal = AbortSignal.any([end.signal, AbortSignal.timeout(REPORTS_WITHIN_MS)])
  try {
    const answers = describeNode(agent, AbortSignal.timeout(ANSWERS_WITHIN_MS))
    const [answer] = await Promise.all([ask(signal), answers])
    return answer
  } finally {
    end.abort(new Error('the answer is not waited for any more'))
  }
}

function judge(build: FoundBuild, isAllowed: boolean): JudgedBuild {
  const holes = knownHoles(build)
  return { ...build, holes, refusedFor: isAllowed ? [] : holes.filter(runsForeignCode).map(({ id }) => id) }
}

/** Refuses in the words of the agent, or because it does not answer, or is too old to. */
async function orRefusal<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof AgentUnreachable) throw agentAway()
    if (isUnknownTo(cause))
      throw new Refusal('unavailable', 'the agent is older than the server and fetches no builds', {
        wayOut: 'start it again',
        cause,
      })
    throw isDeclined(cause) ? new Refusal(cause.code, cause.message, { cause }) : cause
  }
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof AgentUnreachable) return null
    throw cause
  }
}
