import type { Lane, Step } from './fold-steps.ts'
import { duration } from './format.ts'

/** A step on the time line, in percent of its length. */
export interface StepPlace {
  readonly step: Step
  readonly left: number
  readonly width: number
  /** How long it took, or runs until now. */
  readonly took: string
}

/** When the steps of an action ran: one scale for all groups. */
export interface TimeLine {
  placesOf(lane: Lane): readonly StepPlace[]
  /** Times since the first step. */
  readonly ticks: readonly { readonly left: number; readonly words: string }[]
  /** Times without any step that are drawn shorter than they were. */
  readonly cuts: readonly { readonly left: number; readonly width: number; readonly words: string }[]
}

/** A time without any step has at most this share of the time with some: a window may be open for days. */
const MOST_IDLE = 0.5

interface Span {
  readonly from: number
  readonly to: number
}

/** Places each begun step by its times. Before the first one, the line is empty. */
export function timeLineOf(lanes: readonly Lane[], now: number): TimeLine {
  const spans = merge(lanes.flatMap(({ steps }) => steps.flatMap((step) => spanOf(step, now) ?? [])))
  const busy = Math.max(
    spans.reduce((sum, { from, to }) => sum + to - from, 0),
    1,
  )
  const begins: number[] = []
  let whole = 0
  for (const [n, { from, to }] of spans.entries()) {
    const before = spans[n - 1]
    if (before !== undefined) whole += Math.min(from - before.to, busy * MOST_IDLE)
    begins.push(whole)
    whole += to - from
  }
  const percent = (ms: number) => (100 * ms) / Math.max(whole, 1)
  const leftOf = (at: number) => {
    const n = Math.max(
      spans.findLastIndex(({ from }) => from <= at),
      0,
    )
    return percent((begins[n] ?? 0) + at - (spans[n]?.from ?? at))
  }
  const start = spans[0]?.from ?? now
  const cuts = spans.flatMap(({ from }, n) => {
    const before = spans[n - 1]
    if (before === undefined || from - before.to <= busy * MOST_IDLE) return []
    const left = leftOf(before.to)
    return [{ left, width: leftOf(from) - left, words: `${duration(from - before.to)} without a step` }]
  })
  const last = spans.at(-1)
  return {
    placesOf: ({ steps }) =>
      steps.flatMap((step) => {
        const span = spanOf(step, now)
        if (span === null) return []
        const left = leftOf(span.from)
        return [{ step, left, width: leftOf(span.to) - left, took: duration(span.to - span.from) }]
      }),
    ticks:
      last === undefined
        ? []
        : [
            { left: 0, words: '0 s' },
            { left: 100, words: duration(last.to - start) },
          ],
    cuts,
  }
}

function spanOf({ began, ended }: Step, now: number): Span | null {
  if (began === null) return null
  const from = Date.parse(began)
  return { from, to: Math.max(ended === null ? now : Date.parse(ended), from) }
}

/** The times in which at least one step ran, in their order. */
function merge(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last === undefined || span.from > last.to) merged.push(span)
    else merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
  }
  return merged
}
