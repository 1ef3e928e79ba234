import { readdirSync } from 'node:fs'
import { compareVersions } from '@fairlead/engine'
import { enginesFolder } from '../proof/start-fairlead.ts'

/** A build as requests name it: "redis-7.0.15". */
export type BuildName = `${string}-${string}`

/**
 * The newest build here of a flavour and version, as requests name it. Suites move, so no exact patch version is
 * asked for. Throws when there is none: tools/run.mjs fetches what the tests need.
 */
export function build(flavour: string, version: string): BuildName {
  const found = readdirSync(enginesFolder())
    .map((name) => /^([a-z]+)-(\d+\.\d+\.\d+)$/.exec(name))
    .filter((match) => match?.[1] === flavour && match[2]?.startsWith(`${version}.`))
    .map((match) => match?.[2] ?? '')
    .toSorted(compareVersions)
    .at(-1)
  if (found === undefined) throw new Error(`there is no build of ${flavour} ${version} in ${enginesFolder()}`)
  return `${flavour}-${found}`
}
