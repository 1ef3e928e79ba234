import { expect, test } from 'vitest'
import { compare, figuresOfDemo, printCompared } from './figures.ts'
import { historyFigures, historyHead, printHistoryLine, readHistory } from './history.ts'

test('figures of two commits are compared round by round, and a figure of only one of them is left out', () => {
  const compared = compare(
    [{ stop: 2 }, { stop: 4 }, { stop: 3 }],
    [
      { stop: 4, new: 1 },
      { stop: 4, new: 1 },
      { stop: 9, new: 1 },
    ],
  )
  expect(compared).toEqual([{ name: 'stop', before: 3, now: 4, ratio: { median: 2, least: 1, most: 3 } }])
  expect(printCompared(['4ed4d091', 'ec73bdbe'], compared)).toMatch(/stop +│ 3 +│ 4 +│ 2 × +│ 1 to 3/)
})

test('a demo that has lost a write has no figures', () => {
  const spread = { median: 1, max: 2 }
  const summary = { write_stop_ms: spread, client_gap_ms: spread, seconds: 9, lost: 1, duplicated: 0 }
  expect(() => figuresOfDemo(JSON.stringify(summary))).toThrow('lost (1)')
  expect(figuresOfDemo(JSON.stringify({ ...summary, lost: 0 }))).toMatchObject({ 'demo, seconds': 9 })
})

test('a release has a line in the history, which is read back', () => {
  const release = { release: '0.1.0', commit: 'b', date: '2026-11-30', base: 'a', rounds: 5 }
  const ratio = { median: 1.2345, least: 1, most: 2 }
  const compared = Object.values(historyFigures).map((name, n) => ({
    name,
    before: 1,
    now: n + 0.1234,
    ratio,
  }))
  const csv = `${historyHead}\n${printHistoryLine(release, compared)}\n`
  expect(readHistory(csv)).toEqual([
    {
      ...release,
      now: { write_stop_ms: 0.123, client_gap_ms: 1.12, longest_gap_ms: 2.12, demo_s: 3.12 },
      ratio: { write_stop_ms: 1.23, client_gap_ms: 1.23, longest_gap_ms: 1.23, demo_s: 1.23 },
    },
  ])
  expect(() => printHistoryLine(release, compared.slice(1))).toThrow('compare it, too')
})
