import { expect, test } from 'vitest'
import { createHistogram } from './histogram.ts'
import { LINES_AT_ONCE, type Reading, writeText } from './write-text.ts'

const noPause = async () => undefined

function gauge(name: string, labels: readonly string[], samples: Reading['samples']): Reading {
  return { name, metric: { type: 'gauge', help: 'what it is', labels }, samples }
}

test('a metric has its help and its type once, and labels are escaped', async () => {
  const hostile = 'a"b\\c\nd'
  const text = await writeText(
    [
      gauge(
        'size',
        ['name', 'n'],
        [
          [[hostile, 1], 2.5],
          [['x', 2], 0],
        ],
      ),
    ],
    noPause,
  )
  expect(text.split('\n')).toEqual([
    '# HELP size what it is',
    '# TYPE size gauge',
    String.raw`size{name="a\"b\\c\nd",n="1"} 2.5`,
    'size{name="x",n="2"} 0',
    '',
  ])
})

test('a metric without a series is left out', async () => {
  expect(await writeText([gauge('none', [], [])], noPause)).toBe('')
})

test('a histogram tells how many were within each bound, and in all', async () => {
  const histogram = createHistogram([1, 5])
  for (const value of [0.5, 1, 3, 9]) histogram.observe(value)
  const metric = { type: 'histogram', help: 'h', labels: ['of'] } as const
  const text = await writeText([{ name: 'took', metric, samples: [[['x'], histogram]] }], noPause)
  expect(text.split('\n').slice(2)).toEqual([
    'took_bucket{of="x",le="1"} 2',
    'took_bucket{of="x",le="5"} 3',
    'took_bucket{of="x",le="+Inf"} 4',
    'took_sum{of="x"} 13.5',
    'took_count{of="x"} 4',
    '',
  ])
})

test('however much there is, other work has its turn after every few hundred lines', async () => {
  let made = 0
  function* samples(): Generator<readonly [readonly number[], number]> {
    for (let n = 0; n < 30_000; n += 1) {
      made += 1
      yield [[n], n]
    }
  }
  const atPause: number[] = []
  const text = await writeText([gauge('much', ['n'], samples())], async () => {
    atPause.push(made)
  })
  expect(text.split('\n').length).toBe(30_003)
  const steps = atPause.map((count, n) => count - (atPause[n - 1] ?? 0))
  expect(Math.max(...steps)).toBe(LINES_AT_ONCE)
  expect(atPause.length).toBe(30_000 / LINES_AT_ONCE)
})
