/** The parts of a handover in order, with their texts. */
export const handoverParts = [
  ['hold', 'answers still due are given'],
  ['pause', 'the old primary stops writes'],
  ['equal', 'followers catch up'],
  ['promote', 'the new primary takes over'],
  ['release', 'clients go on there'],
] as const

/** Milliseconds of each part, in order. */
export type PartTimes = Readonly<Record<(typeof handoverParts)[number][0], number>>

/** A scale from 0 to `end`, with its ticks. Milliseconds. */
export interface Scale {
  readonly end: number
  readonly ticks: readonly number[]
}

/** More numbers would touch each other on a phone. */
const MOST_STEPS = 5

/** One scale for all handovers of a page, to compare their parts. */
export function scaleOf(handovers: readonly PartTimes[]): Scale {
  const longest = Math.max(...handovers.map(sumOf), 1)
  const power = 10 ** Math.floor(Math.log10(longest / MOST_STEPS))
  const step = [1, 2, 5, 10].map((n) => n * power).find((each) => each * MOST_STEPS >= longest) ?? longest
  const steps = Math.ceil(longest / step)
  return { end: steps * step, ticks: Array.from({ length: steps + 1 }, (_, n) => n * step) }
}

/** Begin and length of each part, in percent of the scale. */
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
