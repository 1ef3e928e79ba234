/*
 * What clients can do through a known hole of a build. The command line and the console say it in these words, and judge builds by the worst of their holes.
 */

/** What clients can do through a hole, the worst first. */
export const holeReaches = {
  code: 'clients can run code',
  crash: 'clients can end the engine',
  other: 'neither code nor a crash',
} as const

/** `reach` of a known hole. */
export type HoleReach = keyof typeof holeReaches

/** The worst that clients can do through these holes; `other` too if there is none. */
export function worstReach(holes: readonly { readonly reach: HoleReach }[]): HoleReach {
  const has = (reach: HoleReach) => holes.some((hole) => hole.reach === reach)
  return has('code') ? 'code' : has('crash') ? 'crash' : 'other'
}
