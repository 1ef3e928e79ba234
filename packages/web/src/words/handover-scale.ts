/** The parts of a handover in their order, with what stands beside each. */
export const handoverParts = [
  ['hold', 'answers still due are given'],
  ['pause', 'the old primary stops writes'],
  ['equal', 'followers catch up'],
  ['promote', 'the new primary takes over'],
  ['release', 'clients go on there'],
] as const

/** Milliseconds of each part, one after the other. */
export type PartTimes = Readonly<Record<(typeof handoverParts)[number][0], number>>

/** A scale that begins at 0: where it ends, and what stands on it. Milliseconds. */
export interface Scale {
  readonly end: number
  readonly ticks: readonly number[]
}

/** More numbers would touch each other on a phone. */
const MOST_STEPS = 5

/** One scale for all handovers of a page, so that the lengths of all their parts compare. */
export function scaleOf(handovers: readonly PartTimes[]): Scale {
  const longest = Math.max(...handovers.map(sumOf), 1)
  const power = 10 ** Math.floor(Math.log10(longest / MOST_STEPS))
  const step = [1, 2, 5, 10].map((n) => n * power).find((each) => each * MOST_STEPS >= longest) ?? longest
  const steps = Math.ceil(longest / step)
  return { end: steps * step, ticks: Array.from({ length: steps + 1 }, (_, n) => n * step) }
}

/** Where each part begins and how long it is, in percent of the scale. */
export function placesOn({ end }: Scale, times: PartTimes) {
  let begin = 0
  return handoverParts.map(([name, words]) => {
    const ms = times[name]
    const place = { name, words, ms, left: (100 * begin) / end, width: (100 * ms) / end }
    begin += ms
    return place
  })
}

function sumOf(times: PartTimes): number {
  return handoverParts.reduce((sum, [name]) => sum + times[name], 0)
}
