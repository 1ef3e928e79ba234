import { parseArgs } from 'node:util'
import { type ProfileName, profiles } from '../../proof/profiles.ts'

/** The command line is wrong; the message says how it is right. */
export class Misused extends Error {}

export interface Asked {
  readonly isHelp: boolean
  readonly isList: boolean
  readonly isResumed: boolean
  readonly profile: ProfileName | null
  readonly part: number
  readonly parts: number
  readonly pair: string | null
  readonly seed: number | undefined
  /** Parts of paths; none: all files of the run. */
  readonly files: readonly string[]
  readonly test: string | undefined
}

export const HELP = `npm run prove -- [options] [file…]

  --profile NAME   one campaign as long as it can be: --list names them
  --seed N         the random choices of an earlier run; default: drawn
  --part 2/4       the second of four parts, which share a seed
  --failed         only what failed or did not run the last time, with the same seed
  --pair 'A → B'   upgrades between these builds, instead of the usual pair
  -t NAME          only tests with this in their name
  --list           prints the profiles, and the files that would run
`

const options = {
  help: { type: 'boolean' },
  list: { type: 'boolean' },
  failed: { type: 'boolean' },
  profile: { type: 'string' },
  part: { type: 'string' },
  seed: { type: 'string' },
  pair: { type: 'string' },
  test: { type: 'string', short: 't' },
} as const

/** Throws Misused. */
export function readArguments(args: readonly string[]): Asked {
  const { values, positionals } = parse(args)
  const { list = false, failed = false } = values
  const seed = values.seed === undefined ? undefined : readNumber(values.seed)
  const [part, parts] = readPart(values.part ?? '1/1')
  if (parts > 1 && seed === undefined && !list && !failed)
    throw new Misused('the parts of a run share a seed: add --seed and the same number to each of them')
  if (failed && (seed !== undefined || positionals.length > 0 || values.test !== undefined))
    throw new Misused('--failed takes seed, files and tests from the last report: leave them out')
  return {
    isHelp: values.help ?? false,
    isList: list,
    isResumed: failed,
    profile: readProfile(values.profile),
    part,
    parts,
    pair: values.pair ?? null,
    seed,
    files: positionals,
    test: values.test,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (cause) {
    throw new Misused(`${cause instanceof Error ? cause.message : String(cause)}\n\n${HELP}`)
  }
}

function readProfile(name: string | undefined): ProfileName | null {
  if (name === undefined) return null
  const found = Object.keys(profiles).find((one): one is ProfileName => one === name)
  if (found === undefined)
    throw new Misused(`there is no profile ${name}; there are ${Object.keys(profiles).join(', ')}`)
  return found
}

function readPart(text: string): readonly [number, number] {
  const [, part = 0, parts = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (part < 1 || part > parts) throw new Misused(`--part is 2/4 or the like, not ${text}`)
  return [part, parts]
}

function readNumber(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Misused(`--seed is a whole number, not ${text}`)
  return Number(text)
}
