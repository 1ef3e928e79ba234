import { expect, test } from 'vitest'
import { backlogBytes } from './backlog-bytes.ts'

const MiB = 1024 * 1024

test('a quiet or small database keeps the least backlog', () => {
  expect(backlogBytes({ writtenPerSecond: 0, dataBytes: 0 })).toBe(64 * MiB)
  expect(backlogBytes({ writtenPerSecond: 2.7 * MiB, dataBytes: 100 * MiB })).toBe(64 * MiB)
})

test('a large database under load gets room for twice its restart', () => {
  const bytes = backlogBytes({ writtenPerSecond: 10 * MiB, dataBytes: 1024 * MiB })
  expect(bytes / MiB).toBeCloseTo(10 * 2 * (1 + 1024 / 80), 0)
})
