import { readdirSync } from 'node:fs'
import { compareVersions } from '@fairlead/engine'
import { enginesFolder } from '../proof/engines-folder.ts'

/**
 * The upgrade to show: the oldest redis here to the newest valkey, which most people need; otherwise the
 * oldest valkey to the newest. Throws when the folder of builds holds no two versions.
 */
export function chooseEngines(folder: string = enginesFolder()): {
  readonly from: string
  readonly to: string
} {
  const [redis, valkey] = ['redis', 'valkey'].map((flavour) => versionsOf(folder, flavour))
  const from = redis?.at(0) ?? (valkey !== undefined && valkey.length > 1 ? valkey.at(0) : undefined)
  const to = valkey?.at(-1)
  if (from === undefined || to === undefined) {
    throw new Error(
      `two engine builds are needed in ${folder}, an older and a newer; fairlead engines fetch valkey 8.1 gets one`,
    )
  }
  return { from, to }
}

/** Builds of a flavour as requests name them, oldest first. */
function versionsOf(folder: string, flavour: string): readonly string[] {
  const versions = readdirSync(folder)
    .map((name) => /^([a-z]+)-(\d+\.\d+\.\d+)$/.exec(name))
    .filter((match) => match?.[1] === flavour)
    .map((match) => match?.[2] ?? '')
  return versions.toSorted(compareVersions).map((version) => `${flavour}-${version}`)
}
