import type { Build, FoundBuild } from '@fairlead/api'

/** The engine builds of this node, as the agent needs them. Implementation: builds/. */
export interface BuildsOfNode {
  list(signal?: AbortSignal): Promise<readonly FoundBuild[]>
  /** Undefined when there is none. */
  find(build: Build): Promise<FoundBuild | undefined>
}

/** The program of a build. Throws one line that names the way out when the node has none. */
export async function findProgram(builds: BuildsOfNode, build: Build): Promise<string> {
  const found = await builds.find(build)
  if (found) return found.program
  const { flavour, version } = build
  throw new Error(
    `there is no build ${flavour} ${version} on this node; put it into the folder of builds or on PATH`,
  )
}
