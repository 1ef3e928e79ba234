import type { Build, FoundBuild } from '@fairlead/api'

/** The engine builds of this node, for the agent. Implementation: builds/. */
export interface BuildsOfNode {
  list(signal?: AbortSignal): Promise<readonly FoundBuild[]>
  /** Undefined if there is none. */
  find(build: Build): Promise<FoundBuild | undefined>
}

/** Returns a build's program. If the node has none, throws one line with the remedy. */
export async function findProgram(builds: BuildsOfNode, build: Build): Promise<string> {
  const found = await builds.find(build)
  if (found) return found.program
  const { flavour, version } = build
  throw new Error(
    `there is no build ${flavour} ${version} on this node; put it into the folder of builds or on PATH`,
  )
}
