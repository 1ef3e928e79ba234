import type { Build, FoundBuild } from '@fairlead/api'

/** The engine builds of this node, as the agent needs them. Implementation: builds/. */
export interface BuildsOfNode {
  list(signal?: AbortSignal): Promise<readonly FoundBuild[]>
  /** Undefined when there is none. */
  find(build: Build): Promise<FoundBuild | undefined>
}
