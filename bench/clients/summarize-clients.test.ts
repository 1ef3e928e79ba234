import { expect, test } from 'vitest'
import { type Run, stallsOf, summarizeClients } from './summarize-clients.ts'

const run = (more: Partial<Run> = {}): Run => ({
  ...{ library: 'ioredis', asked: 10_000, acked: 99_000, seconds: 10, errors: {}, reconnects: 0, lost: 0 },
  ...{ twice: 0, stallsMs: [10, 20], heldMs: [4, 8], calmMs: 5, ...more },
})

test('a stall belongs as a whole to the handover that it touches, and all other stalls count as calm', () => {
  const gaps = [
    { fromMs: 1_000, toMs: 1_040 },
    { fromMs: 4_700, toMs: 4_760 }, // reaches into the window of 5,000
    { fromMs: 5_010, toMs: 5_030 },
    { fromMs: 6_001, toMs: 6_009 },
  ]
  expect(stallsOf(gaps, [5_000, 9_000])).toEqual({ stallsMs: [60, 0], calmMs: 40 })
})

test('rounds of a library at one pace are summarized together, and those at another pace separately', () => {
  const rows = summarizeClients([
    run(),
    run({ asked: 20_000, stallsMs: [300] }),
    run({ acked: 51_000, seconds: 5, stallsMs: [30], errors: { closed: 2 }, calmMs: 7 }),
  ])
  expect(rows).toMatchObject([
    { asked: 10_000, reached: 10_000, errors: 2, error_kinds: ['closed'], handovers: 3, calm_ms: 7 },
    { asked: 20_000, reached: 9_900, longest_stall_ms: 300 },
  ])
  expect(rows[0]).toMatchObject({
    median_stall_ms: 20,
    longest_stall_ms: 30,
    median_held_ms: 6,
    missed: ['errors'],
  })
})

test('a longest stall of 100 ms and a median of 20 ms meet the goals; one lost or doubled write does not', () => {
  const missed = (more: Partial<Run>) => summarizeClients([run(more)])[0]?.missed
  expect(missed({ stallsMs: [10, 20, 100] })).toEqual([])
  expect(missed({ stallsMs: [10, 20.1, 100.1] })).toEqual(['longest stall', 'median stall'])
  expect(missed({ lost: 1, twice: 1, reconnects: 1 })).toEqual(['reconnects', 'lost', 'twice'])
  expect(missed({ stallsMs: [] })).toEqual(['handovers'])
})
