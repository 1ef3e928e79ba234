import { expect, test } from 'vitest'
import type { Stranger } from './strangers.ts'
import { noneReported, strangersToReport } from './strangers-to-report.ts'

const HOUR = 3_600_000

function strangers(from: number, count: number): readonly Stranger[] {
  return Array.from({ length: count }, (_, n) => ({
    node: `node${from + n}`,
    address: { host: '127.0.0.1', port: 9 },
    former: false,
    knownTo: [1],
    followedBy: [],
    slots: '',
  }))
}

test('each stranger is reported to people once an hour', () => {
  const first = strangersToReport(strangers(1, 2), noneReported, 0)
  expect(first).toMatchObject({ named: strangers(1, 2), more: 0 })
  expect(strangersToReport(strangers(1, 2), first.reported, HOUR - 1)).toMatchObject({ named: [], more: 0 })
  expect(strangersToReport(strangers(1, 2), first.reported, HOUR)).toMatchObject({ named: strangers(1, 2) })
})

test('of thousands of strangers that an engine makes up, five are named in an hour, and the others are counted once', () => {
  let reported = noneReported
  const said = { named: 0, more: [] as number[] }
  for (let second = 0; second < 3_600; second += 1) {
    const now = strangersToReport(strangers(100 * second, 64), reported, 1_000 * second)
    reported = now.reported
    said.named += now.named.length
    if (now.more > 0) said.more.push(now.more)
  }
  expect(said).toEqual({ named: 5, more: [59] })
  expect(reported.ofNodes.size).toBe(5)
})
