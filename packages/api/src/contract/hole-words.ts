/*
 * The effect of a known security hole. The command line and the console use these words, and judge builds by
 * their worst hole.
 */

/** Effects of a hole, the worst first. */
export const holeReaches = {
  code: 'clients can run code',
  crash: 'clients can end the engine',
  other: 'neither code nor a crash',
} as const

/** `reach` of a known hole. */
export type HoleReach = keyof typeof holeReaches

/** The worst effect of these holes; `other` if there are none. */
export function worstReach(holes: readonly { readonly reach: HoleReach }[]): HoleReach {
  const has = (reach: HoleReach) => holes.some((hole) => hole.reach === reach)
  return has('code') ? 'code' : has('crash') ? 'crash' : 'other'
}
