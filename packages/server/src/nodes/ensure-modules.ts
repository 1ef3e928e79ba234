import type { Pieces } from '@fairlead/api'
import type { AgentLink } from './agent-link.ts'
import { type Describing, describeNode } from './describe-node.ts'

/** Where the files of modules are read. */
export interface ModuleSource {
  /** The file of a hash. Reading it throws where it is not there. */
  open(sha256: string): Pieces
}

/**
 * Copies the files with these hashes to a node, where they are not there or not whole. `agent` is a link that waits for
 * longer answers. Throws what the link throws; files that were copied before stay.
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
