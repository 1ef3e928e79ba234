import { expect, test } from 'vitest'
import { rememberTable } from './users-of-ports.ts'

test('the users of engines are looked for when a process is another, soon after that, and then ever more seldom', () => {
  let [now, pid] = [0, 1]
  const lookedAt: number[] = []
  const table = rememberTable(
    () => [{ folder: 'shards/s1', host: '127.0.0.1', port: 7_001, pid }],
    () => {
      lookedAt.push(now)
      return String(pid)
    },
    () => now,
  )
  const untilMs = (ms: number) => {
    lookedAt.length = 0
    for (; now <= ms; now += 1_000) expect(table.text()).toBe(String(pid))
    return lookedAt
  }
  expect(untilMs(200_000)).toEqual([0, 6_000, 17_000, 38_000, 79_000, 140_000])
  pid = 2
  const changedAt = now
  expect(untilMs(changedAt + 10_000)).toEqual([changedAt, changedAt + 6_000])
  table.forget()
  const forgottenAt = now
  expect(untilMs(forgottenAt + 1_000)).toEqual([forgottenAt])
})

test('a node without shards has a table, also when a folder has got another owner', () => {
  const table = rememberTable(() => [])
  expect(table.text()).toBe('{}')
  table.forget()
  expect(table.text()).toBe('{}')
})
