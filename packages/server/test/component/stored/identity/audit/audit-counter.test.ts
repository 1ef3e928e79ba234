import { expect, test } from 'vitest'
import type { AuditEvent } from '../../../../../src/core/identity/audit-record.ts'
import { createAuditCounter } from '../../../../../src/identity/audit/audit-counter.ts'
import { auditStore } from '../../../../../src/identity/stores/audit-store.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { openTestStore } from '../../../../open-test-store.ts'

const failed = (address: string): AuditEvent => ({
  type: 'login_failed',
  by: { uid: 1, name: 'mia', address },
  details: { via: 'authorize', why: 'wrong' },
})
const total = async ({ db }: Store) => {
  const records = await auditStore(db).listAfter(0, 1_000)
  return records.reduce((sum, { details }) => sum + Number(details?.['times'] ?? 1), 0)
}

/** The first attempts of each transaction are rolled back, as if PostgreSQL went away during them. */
function cutOff(store: Store, tries: number): Store {
  return {
    ...store,
    async transaction(work) {
      for (let n = 0; n < tries; n += 1)
        await store
          .transaction(async (db) => {
            await work(db)
            throw new Error('cut off')
          })
          .catch(() => undefined)
      return await store.transaction(work)
    },
  }
}

test('a repeated transaction counts its event once, and loses no count of the former hour', async () => {
  await using store = await openTestStore(':memory:')
  let nowMs = Date.parse('2026-11-21T12:00:00Z')
  const counter = createAuditCounter(cutOff(store, 2), () => nowMs)
  const note = (address: string) => counter.transaction((_, noteIt) => noteIt(failed(address)))
  for (let n = 0; n < 25; n += 1) await note('10.0.0.1')
  nowMs += 3_600_001
  await note('10.0.0.2')
  await note('10.0.0.2')
  await counter.flush(false)
  expect(await total(store)).toBe(27)
})

test('counts of the former hour that could not be written are written later', async () => {
  await using store = await openTestStore(':memory:')
  let nowMs = Date.parse('2026-11-21T12:00:00Z')
  let isAway = false
  const transaction: Store['transaction'] = (work) =>
    isAway ? Promise.reject(new Error('away')) : store.transaction(work)
  const counter = createAuditCounter({ ...store, transaction }, () => nowMs)
  for (let n = 0; n < 25; n += 1) await counter.transaction((_, noteIt) => noteIt(failed('10.0.0.1')))
  nowMs += 3_600_001
  isAway = true
  await expect(counter.flush(false)).rejects.toThrow('away')
  isAway = false
  await counter.flush(false)
  expect(await total(store)).toBe(25)
})
