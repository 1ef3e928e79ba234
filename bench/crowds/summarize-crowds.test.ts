import { expect, test } from 'vitest'
import { type Run, spansAt, summarizeCrowds } from './summarize-crowds.ts'

const run = (what: string, heldMs: readonly number[], gapsMs = heldMs): Run => ({
  what,
  perSecond: 1_000,
  errors: 0,
  writeStopsMs: [5, 5],
  heldMs,
  stallsMs: gapsMs,
  gapsMs,
  calmMs: 3,
})

test('a span that touches a handover counts for the handover, and every other span as calm', () => {
  const spans = [
    { fromMs: 1_000, toMs: 1_100 },
    { fromMs: 9_000, toMs: 9_030 },
    { fromMs: 20_000, toMs: 20_007 },
  ]
  expect(spansAt(spans, [1_200, 9_600])).toEqual({ atMs: [100, 0], calmMs: 30 })
})

test('a crowd is compared with the run of its own round that has only writers', () => {
  const slow = [run('50 busy', [20, 40]), run('3000 blpop', [30, 60])]
  const fast = [run('50 busy', [4, 6]), run('3000 blpop', [10, 20], [5, 5])]
  const [alone, crowd] = summarizeCrowds([slow, fast, slow])
  expect(alone).toMatchObject({ handovers: 6, held_ratio: 1, gap_ratio: 1, met: true })
  expect(crowd).toMatchObject({ held_ms: 30, held_ratio: 1.5, gap_ratio: 1.5, met: true })
  expect(summarizeCrowds([fast])[1]).toMatchObject({ held_ratio: 3, gap_ratio: 1, met: false })
})
