import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import type { AuditEvent } from './audit-record.ts'
import { countEvent, isOver, newTally, restOf } from './audit-tally.ts'

function refusalOf(uid: number, databaseUid: number): AuditEvent {
  const by = { uid, name: `user ${uid}`, address: '10.0.0.1' }
  return { type: 'permission_refused', by, databaseUid, details: { permission: 'view_bdb_info' } }
}

/** All records that an hour of these events makes. */
function recordsOf(events: readonly AuditEvent[]): readonly AuditEvent[] {
  let tally = newTally(0)
  const records: AuditEvent[] = []
  for (const event of events) {
    const counted = countEvent(tally, event, 1_000)
    tally = counted.tally
    if (counted.record !== null) records.push(counted.record)
  }
  return [...records, ...restOf(tally)]
}

const total = (records: readonly AuditEvent[]) =>
  records.reduce((sum, { details }) => sum + Number(details?.['times'] ?? 1), 0)

// invariant: Refused requests do not fill the disk, and each is counted.
test('whatever events come, all are counted', () => {
  const events = fc.array(
    fc.record({ uid: fc.nat(3), database: fc.nat(80), times: fc.integer({ min: 1, max: 60 }) }),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(events, (some) => {
      const all = some.flatMap(({ uid, database, times }) =>
        Array.from({ length: times }, () => refusalOf(uid, database)),
      )
      expect(total(recordsOf(all))).toBe(all.length)
    }),
  )
})

test('a million equal events make some twenty records; the first ten of them are unchanged single records', () => {
  const records = recordsOf(Array.from({ length: 1_000_000 }, () => refusalOf(1, 1)))
  expect(records.length).toBeLessThan(20)
  expect(records.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => refusalOf(1, 1)))
  expect(records[10]).toMatchObject({ details: { times: 90 } })
})

test('a user with endless new kinds of refused requests, and endless new addresses, make only a bounded number of records an hour', () => {
  const one = recordsOf(Array.from({ length: 100_000 }, (_, n) => refusalOf(1, n)))
  expect(one.length).toBeLessThan(80)
  const many = recordsOf(
    Array.from({ length: 20_000 }, (_, n) => ({
      type: 'login_failed',
      by: { uid: null, name: `name ${n}`, address: `10.0.${n >> 8}.${n & 255}` },
    })),
  )
  expect(many.length).toBeLessThan(1_020)
  expect(total(many)).toBe(20_000)
})

test('an hour ends, also if the clock was set back', () => {
  const tally = newTally(5_000_000)
  expect([5_000_000, 8_599_999, 8_600_000, 4_999_999].map((at) => isOver(tally, at))).toEqual([
    false,
    false,
    true,
    true,
  ])
})
