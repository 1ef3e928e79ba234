import type { NodeFacts } from '@fairlead/api'
import type { AgentLink } from './agent-link.ts'
import { isUnknownTo } from './report-shards.ts'

/** Operations that describe a node. */
export type Describing = Pick<AgentLink, 'describeNode' | 'reportNode'>

/** Asks an agent for its node without shards; an older agent reports them all. Throws AgentUnreachable. */
export async function describeNode(agent: Describing, signal?: AbortSignal): Promise<NodeFacts> {
  const options = signal && { signal }
  try {
    return await agent.describeNode({}, options)
  } catch (cause) {
    if (isUnknownTo(cause)) return await agent.reportNode({}, options)
    throw cause
  }
}
