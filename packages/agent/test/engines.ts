import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { FoundBuild } from '@fairlead/api'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { usualBuilds } from '../../../proof/usual-builds.ts'
import type { BuildsOfNode } from '../src/builds/builds-of-node.ts'

/** Every engine build that lies unpacked in the folder of builds. */
export const everyEngine: readonly FoundBuild[] = readdirSync(enginesFolder())
  .toSorted()
  .flatMap((name): readonly FoundBuild[] => {
    const match = /^(valkey|redis|redict)-(\d+\.\d+\.\d+)$/.exec(name)
    if (!match) return []
    const [, flavour = '', version = ''] = match
    return [
      {
        flavour,
        version,
        source: 'folder',
        program: join(enginesFolder(), name, 'bin', `${flavour}-server`),
      },
    ]
  })

/** Builds of the folder of builds that this run tries. */
export const engines = usualBuilds(everyEngine)

export const builds: BuildsOfNode = {
  list: () => Promise.resolve(everyEngine),
  find: (build) =>
    Promise.resolve(
      everyEngine.find(({ flavour, version }) => flavour === build.flavour && version === build.version),
    ),
}

/** Any engine build: the last one of the list. */
export function anyEngine(): FoundBuild {
  const engine = engines.at(-1)
  if (!engine) throw new Error(`there is no engine build in ${enginesFolder()}`)
  return engine
}
