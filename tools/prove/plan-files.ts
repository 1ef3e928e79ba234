import { globSync } from 'node:fs'
import type { Order } from '../../proof/campaign.ts'
import { type Profile, profiles } from '../../proof/profiles.ts'

const all: readonly Profile[] = Object.values(profiles)

/** Whether each part of a run tries its share of what is in the file. */
function isShared(file: string): boolean {
  return all.some(({ files, sharesRounds = false }) => sharesRounds && files.includes(file))
}

/**
 * The test files of a run, the campaigns first, because they take longest. Files are dealt to the parts in
 * turn; those whose rounds are shared are in each part.
 */
export function planFiles(
  root: string,
  { profile, part, parts }: Omit<Order, 'seed' | 'pair'>,
): readonly string[] {
  const files = profile === null ? filesOfAll(root) : [...profiles[profile].files]
  const shared = files.filter(isShared)
  const dealt = files.filter((file) => !isShared(file))
  return [...shared, ...dealt.filter((_, n) => n % parts === part - 1)]
}

/** The tier, and the files of other tiers that do more in it than in `npm test`. */
function filesOfAll(root: string): readonly string[] {
  const more = all
    .filter(({ effort }) => effort.usual !== undefined && effort.all > effort.usual)
    .flatMap(({ files }) => files)
  return [...new Set([...more, ...globSync('e2e/proof/**/*.test.ts', { cwd: root }).toSorted()])]
}
