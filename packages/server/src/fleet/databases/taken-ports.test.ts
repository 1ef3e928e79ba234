import { expect, test } from 'vitest'
import type { PortRange } from '../../core/state/port-range.ts'
import { findPortWithin } from './taken-ports.ts'

/** Ports on record; `read` counts those that were read one by one. */
function recordOf(taken: readonly number[]) {
  const ports = taken.toSorted((a, b) => a - b)
  const within = ({ from, to }: PortRange) => ports.filter((port) => port >= from && port <= to)
  const counted = { read: 0, queries: 0 }
  const shards = {
    portsWithin: async (range: PortRange) => {
      counted.read += within(range).length
      return within(range)
    },
    countPortsWithin: async (range: PortRange) => {
      counted.queries += 1
      return within(range).length
    },
  }
  const databases = { portsWithin: async () => [], countPortsWithin: async () => 0 }
  return { counted, stores: { shards, databases } }
}

const nothingElse = { alsoFree: [], besides: [] }
const ports = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)

/** Like the agent: the first port that is neither excepted nor used by others. */
const lowest =
  (inUse: readonly number[]) =>
  async ({ from, to, except, alsoFree }: PortRange & { except: number[]; alsoFree: number[] }) => {
    const isFree = (port: number) => !except.includes(port) && !inUse.includes(port)
    const all = ports(from, to - from + 1)
    return all.find((port) => [0, ...alsoFree].every((by) => isFree(port + by))) ?? null
  }

test('the lowest free port is found, however many are taken, and few of these are read', async () => {
  const range = { from: 20_000, to: 49_999 }
  const { counted, stores } = recordOf(ports(20_000, 25_000))
  expect(await findPortWithin(range, nothingElse, stores, lowest([]))).toBe(45_000)
  expect(counted.read).toBeLessThanOrEqual(512)
  expect(counted.queries).toBeLessThanOrEqual(12)
})

test('ports that others use, or whose companion ports are taken, are skipped', async () => {
  const range = { from: 1_000, to: 3_999 }
  const { stores } = recordOf([...ports(1_000, 600), ...ports(12_000, 1_000)])
  expect(await findPortWithin(range, nothingElse, stores, lowest(ports(1_600, 1_000)))).toBe(2_600)
  const bus = { alsoFree: [10_000], besides: [1_600] }
  expect(await findPortWithin(range, bus, stores, lowest([]))).toBe(1_601)
  const distant = { alsoFree: [10_000], besides: ports(1_600, 400) }
  expect(await findPortWithin(range, distant, stores, lowest([]))).toBe(3_000)
})

test('if all ports are on record or in use, there is none', async () => {
  const range = { from: 1_000, to: 1_999 }
  expect(await findPortWithin(range, nothingElse, recordOf(ports(1_000, 1_000)).stores, lowest([]))).toBe(
    null,
  )
  expect(await findPortWithin(range, nothingElse, recordOf([]).stores, lowest(ports(1_000, 1_000)))).toBe(
    null,
  )
})
