import { expect, test } from 'vitest'
import { compare, figuresOfDemo, printCompared } from './figures.ts'

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
  expect(printCompared('4ed4d091', compared)).toMatch(/stop +│ 3 +│ 4 +│ 2 × +│ 1 to 3/)
})

test('a demo that has lost a write has no figures', () => {
  const spread = { median: 1, max: 2 }
  const summary = { write_stop_ms: spread, client_gap_ms: spread, seconds: 9, lost: 1, duplicated: 0 }
  expect(() => figuresOfDemo(JSON.stringify(summary))).toThrow('lost (1)')
  expect(figuresOfDemo(JSON.stringify({ ...summary, lost: 0 }))).toMatchObject({ 'demo, seconds': 9 })
})
