import type { Pieces } from '@fairlead/api'
import type { AgentLink } from './agent-link.ts'
import { type Describing, describeNode } from './describe-node.ts'

/** Reads the files of modules. */
export interface ModuleSource {
  /** The file with this hash. Reading throws if it is missing. */
  open(sha256: string): Pieces
}

/**
 * Copies files with these hashes to a node where they are missing or incomplete. `agent` is a link with a
 * longer timeout. Throws the link's errors; earlier copies stay.
 */
export async function ensureModules(
  agent: Describing & Pick<AgentLink, 'putModule'>,
  files: ModuleSource,
  hashes: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  if (hashes.length === 0) return
  const options = signal && { signal }
  const { modules } = await describeNode(agent, signal)
  for (const sha256 of new Set(hashes)) {
    if (modules.includes(sha256)) continue
    await agent.putModule({ params: { sha256 }, file: files.open(sha256) }, options)
  }
}
