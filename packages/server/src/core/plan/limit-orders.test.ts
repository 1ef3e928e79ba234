import { expect, test } from 'vitest'
import { nextLimitDown } from './limit-orders.ts'

const KiB = 1024
const MiB = 1024 * KiB

test('a limit that no key exceeds is reached in one step', () => {
  expect(nextLimitDown({ limitBytes: 0, countedBytes: 30 * MiB }, 50 * MiB)).toBe(50 * MiB)
  expect(nextLimitDown({ limitBytes: 100 * MiB, countedBytes: 30 * MiB }, 50 * MiB)).toBe(50 * MiB)
})

test('one below what is used is approached by half a megabyte, each time the engine has evicted', () => {
  const counted = (limitBytes: number, countedBytes: number) =>
    nextLimitDown({ limitBytes, countedBytes }, 50 * MiB)
  expect(counted(0, 80 * MiB)).toBe(80 * MiB - 512 * KiB)
  expect(counted(100 * MiB, 80 * MiB)).toBe(80 * MiB - 512 * KiB)
  expect(counted(79 * MiB, 80 * MiB)).toBeUndefined()
  expect(counted(79 * MiB, 79 * MiB - 1)).toBe(79 * MiB - 1 - 512 * KiB)
  expect(counted(51 * MiB, 50 * MiB + 1)).toBe(50 * MiB)
})
