import { type PastSeeds, pastSeeds } from './past-seeds.ts'
import { type Profile, type ProfileName, profiles } from './profiles.ts'

/**
 * The variable by which `npm run prove` tells tests what to try: an Order as JSON. `npm test` does not set
 * it. Tests pass their environment on to Fairlead, which refuses variables of its own prefix that it does not
 * know.
 */
export const CAMPAIGN = 'PROOF_CAMPAIGN'

export interface Order {
  /** Null: all of them, each with the effort that fits into an hour. */
  readonly profile: ProfileName | null
  readonly seed: number
  readonly part: number
  readonly parts: number
  /** Builds to upgrade between, instead of the usual pair: "redis 6.0 → valkey 8.1". */
  readonly pair: string | null
}

export interface Campaign {
  /** The same in every run of `npm test`; drawn for each run of `npm run prove`. */
  readonly seed: number
  readonly pair: string | null
  /** True when `npm run prove` runs this profile and no other. */
  is(profile: ProfileName): boolean
  /** How often to try what `npm test` tries `usual` times. */
  times(profile: ProfileName, usual: number): number
  /** True when this run tries the round: the seed, or the part of the run, chooses among all rounds. */
  has(profile: ProfileName, round: number): boolean
  /** The seed of the run, and those that once found a fault. */
  seeds(name: PastSeeds): readonly number[]
}

const USUAL_SEED = 20_261_126

/** Answers what this run of the tests tries: what `npm run prove` orders, otherwise the same each time. */
export function campaign(said: string | undefined = process.env[CAMPAIGN]): Campaign {
  const order = said === undefined ? undefined : (JSON.parse(said) as Order)
  const seed = order?.seed ?? USUAL_SEED
  const { part, parts } = order ?? { part: 1, parts: 1 }
  const isFor = (profile: ProfileName) => order?.profile === profile
  const effortOf = (name: ProfileName) => {
    const { effort }: Profile = profiles[name]
    if (isFor(name)) return effort.profile
    return order?.profile === null ? effort.all : (effort.usual ?? effort.all)
  }
  return {
    seed,
    pair: order?.pair ?? null,
    is: isFor,
    times: (name, usual) => Math.round(usual * effortOf(name)),
    has(name, round) {
      const effort = effortOf(name)
      if (effort === 0) return false
      const one = Math.round(1 / effort)
      return round % one === seed % one && Math.floor(round / one) % parts === part - 1
    },
    seeds: (name) => [seed, ...pastSeeds[name]],
  }
}
