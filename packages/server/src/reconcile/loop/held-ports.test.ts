import { expect, test } from 'vitest'
import { LeaseLost } from '../../leases/lease-lost.ts'
import type { Records } from '../records/stored-records.ts'
import { createHeldPorts, type GivenPorts } from './held-ports.ts'

/** A lease of this epoch that is good for so long. */
function leaseOf(epoch: number, leftMs: number) {
  const lease = { epoch, leftMs }
  const epochOf = (uid: number, forMs = 0) => {
    if (forMs >= lease.leftMs) throw new LeaseLost(uid)
    return lease.epoch
  }
  return { lease, leases: { epochOf, heldSince: () => 0 } }
}

const given = {
  effect: (_: string, carryOut: () => Promise<unknown>) => carryOut(),
  reachUnder: () => ({}),
} as unknown as GivenPorts
const records = () => ({}) as Records

test('no effect is begun that may outlast the lease, and none under the lease of a later epoch', async () => {
  const { lease, leases } = leaseOf(1, 10_000)
  await using held = createHeldPorts(given, leases, records)
  const { ports } = held.of(7)
  let done = 0
  const act = async () => ports.effect('promote', async () => (done += 1))
  await act()
  lease.leftMs = 2_000
  await expect(act()).rejects.toThrow(LeaseLost)
  lease.leftMs = 10_000
  lease.epoch = 2
  await expect(act()).rejects.toThrow(LeaseLost)
  expect(done).toBe(1)
})

test('what is remembered of a database ends with the lease: another server may have acted since', async () => {
  const { lease, leases } = leaseOf(1, 10_000)
  await using held = createHeldPorts(given, leases, records)
  const before = held.of(7)
  expect(held.of(7 + 256).memory).toBe(before.memory) // of one bucket
  before.ports.ordersToServe.begin({ databaseUid: 7, group: 0 })
  lease.epoch = 2
  const after = held.of(7)
  expect(after.memory).not.toBe(before.memory)
  expect(after.ports.ordersToServe.mayBeGiven({ databaseUid: 7, group: 0 })).toBe(true)
})
