import type { Output, operations } from '@fairlead/api'

type Rules = Pick<Output<typeof operations.getCluster>, 'password_min_length' | 'password_complexity'>

/** The minimum length in any cluster. */
export const SHORTEST = 8

/** The requirements of a new password. `rules`: the cluster's; null: hidden from this user. */
export function passwordRule(rules: Rules | null): string {
  const least = `at least ${rules?.password_min_length ?? SHORTEST} characters`
  if (rules === null) return `${least}; this cluster may ask for more`
  return rules.password_complexity
    ? `${least}, with a capital and a small letter, a digit and another character; not the name; no character more than three times in a row`
    : least
}
