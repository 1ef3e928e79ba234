import { expect, test } from 'vitest'
import { LeaseLost } from '../../leases/lease-lost.ts'
import { openStore } from '../../store/open-store.ts'
import { storedRecords } from './stored-records.ts'

/** Reads need no lease. */
const reads = new Set([
  'listReserved',
  'get',
  'list',
  'listOf',
  'reservedBytes',
  'withReservation',
  'databasesOf',
  'portsWithin',
  'countPortsWithin',
  'limitBefore',
  'active',
  'listActive',
  'open',
  'lanes',
  'last',
])

test('every write of the reconciler is fenced', async () => {
  await using store = await openStore(':memory:')
  let fenced = 0
  const records = storedRecords(store, async (within) => {
    expect(within.isTransaction).toBe(true)
    fenced += 1
    throw new LeaseLost(1)
  })
  const writes = Object.values(records)
    .flatMap((kind) =>
      Object.entries(kind as Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>),
    )
    .filter(([name]) => !reads.has(name))
  expect(writes.length).toBeGreaterThan(15)
  for (const [name, write] of writes) await expect(write({}, [], {}), name).rejects.toThrow(LeaseLost)
  expect(fenced).toBe(writes.length)
})
