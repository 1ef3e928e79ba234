import { ApiError, MOST_SHARDS_ASKED, type ShardsReport } from '@fairlead/api'
import type { AgentLink } from './agent-link.ts'

/**
 * Reports shards by their agent's names; an older agent reports its whole node. Throws AgentUnreachable, and
 * ApiError if it declines.
 */
export async function reportShards(
  ids: readonly string[],
  agent: Pick<AgentLink, 'reportShards' | 'reportNode'>,
  signal: AbortSignal,
): Promise<ShardsReport> {
  try {
    const first = await agent.reportShards({ body: { ids: ids.slice(0, MOST_SHARDS_ASKED) } }, { signal })
    if (ids.length <= MOST_SHARDS_ASKED) return first
    const rest = await reportShards(ids.slice(MOST_SHARDS_ASKED), agent, signal)
    return { ...first, shards: [...first.shards, ...rest.shards] }
  } catch (cause) {
    if (!isUnknownTo(cause)) throw cause
    const { memoryFreeBytes, diskFreeBytes, shards } = await agent.reportNode({}, { signal })
    const asked = new Set(ids)
    return { memoryFreeBytes, diskFreeBytes, shards: shards.filter(({ id }) => asked.has(id)) }
  }
}

/** Returns whether the agent lacks the operation. */
export function isUnknownTo(cause: unknown): boolean {
  return cause instanceof ApiError && cause.code === 'not_found'
}
