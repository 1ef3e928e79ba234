import { readdirSync } from 'node:fs'
import { compareVersions } from '@fairlead/engine'
import { campaign } from './campaign.ts'
import { enginesFolder } from './engines-folder.ts'

/** A build as requests name it: "redis-7.0.15". */
export type BuildName = `${string}-${string}`

export interface Pair {
  readonly from: BuildName
  readonly to: BuildName
}

type Line = readonly [flavour: string, version: string]

/** From → to. The first two are always here: tools/run.mjs fetches them. */
const paths: readonly (readonly [Line, Line])[] = [
  [
    ['redis', '7.0'],
    ['valkey', '8.1'],
  ],
  [
    ['valkey', '8.0'],
    ['valkey', '8.1'],
  ],
  [
    ['redis', '7.0'],
    ['redis', '8.0'],
  ],
  [
    ['valkey', '8.1'],
    ['valkey', '9'],
  ],
]

/**
 * The pair of builds that `npm run prove -- --pair` asks for ('redis 6.0 → valkey 8.1'), and that every test
 * then upgrades between; undefined without it. Throws when it is not of that form, or there is no such build
 * here.
 */
function askedPair(): Pair | undefined {
  const asked = campaign().pair
  if (asked === null) return undefined
  const [, older = '', from = '', newer = '', to = ''] =
    /^([a-z]+) ([\d.]+) *(?:→|->) *([a-z]+) ([\d.]+)$/.exec(asked) ?? []
  if (to === '')
    throw new Error(`--pair is "redis 6.0 → valkey 8.1" or the like, not ${JSON.stringify(asked)}`)
  return { from: build(older, from), to: build(newer, to) }
}

/** What most tests upgrade between: redis 7.0 and valkey 8.1, or what --pair asks for. */
export function usualPair(): Pair {
  return askedPair() ?? { from: build('redis', '7.0'), to: build('valkey', '8.1') }
}

/**
 * Whether an upgrade between the two can be rolled back. Redis before 6.2 cannot follow a newer primary:
 * docs/explain/engine-formats.md has the reason.
 */
export function hasWayBack({ from, to }: Pair): boolean {
  const isBefore62 = (build: BuildName) => {
    const [flavour, version = ''] = build.split('-')
    return flavour === 'redis' && compareVersions(version, '6.2') < 0
  }
  return !isBefore62(from) || isBefore62(to)
}

/** The pairs of builds that this machine can upgrade between, or the one that --pair asks for. */
export function pairsHere(): readonly Pair[] {
  const asked = askedPair()
  if (asked !== undefined) return [asked]
  return paths.flatMap(([older, newer], n) => {
    if (n < 2) return [{ from: build(...older), to: build(...newer) }]
    const [from, to] = [findBuild(...older), findBuild(...newer)]
    return from === undefined || to === undefined ? [] : [{ from, to }]
  })
}

/** The newest build here of each line that is supported, or the two that --pair asks for. */
export function buildsOfEachLine(): readonly BuildName[] {
  const asked = askedPair()
  if (asked !== undefined) return [asked.from, asked.to]
  const lines: readonly Line[] = [
    ['redis', '7.0'],
    ['redis', '8.0'],
    ['valkey', '8.0'],
    ['valkey', '8.1'],
    ['valkey', '9'],
  ]
  return lines.flatMap(([flavour, version]) => findBuild(flavour, version) ?? [])
}

/**
 * The newest build here of a flavour and version, as requests name it. Suites change, so no exact patch
 * version is asked for. Throws when there is none: tools/run.mjs fetches what the tests need.
 */
export function build(flavour: string, version: string): BuildName {
  const found = findBuild(flavour, version)
  if (found === undefined) throw new Error(`there is no build of ${flavour} ${version} in ${enginesFolder()}`)
  return found
}

/**
 * The same, but undefined when there is none; without a version, the newest of the flavour. For builds that a
 * test does not need.
 */
export function findBuild(flavour: string, version = ''): BuildName | undefined {
  const found = readdirSync(enginesFolder())
    .map((name) => /^([a-z]+)-(\d+\.\d+\.\d+)$/.exec(name))
    .filter((match) => match?.[1] === flavour && `${match[2]}.`.startsWith(version && `${version}.`))
    .map((match) => match?.[2] ?? '')
    .toSorted(compareVersions)
    .at(-1)
  return found === undefined ? undefined : `${flavour}-${found}`
}
