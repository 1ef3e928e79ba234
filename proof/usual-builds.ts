import { campaign } from './campaign.ts'

/**
 * The builds that a component test tries, of all in their order: the oldest and the newest; `npm run prove`
 * tries all.
 */
export function usualBuilds<Build>(all: readonly Build[]): readonly Build[] {
  if (campaign().times('builds', 1) > 0) return all
  const [oldest] = all
  const newest = all.at(-1)
  return oldest === undefined || newest === undefined || all.length === 1 ? all : [oldest, newest]
}
