import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fairlead } from '../../../../../src/core/identity/audit-record.ts'
import { createAuditCounter } from '../../../../../src/identity/audit/audit-counter.ts'
import { keepAudit, removeOld } from '../../../../../src/identity/audit/keep-audit.ts'
import { verifyAudit } from '../../../../../src/identity/audit/verify-audit.ts'
import { auditStore } from '../../../../../src/identity/stores/audit-store.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { openTestStore } from '../../../../open-test-store.ts'

const DAY_MS = 86_400_000
let store: Store
let nowMs: number
const now = () => nowMs
beforeEach(async () => {
  store = await openTestStore(':memory:')
  nowMs = Date.parse('2026-01-01T12:00:00Z')
})
afterEach(() => store[Symbol.asyncDispose]())

const append = (n: number) =>
  store.transaction((db) =>
    auditStore(db).append(
      { type: 'signing_key_changed', by: fairlead, details: { n } },
      new Date(nowMs).toISOString(),
    ),
  )
/** This many records a day. */
async function live(days: number, each = 10): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    for (let n = 0; n < each; n += 1) await append(n)
    nowMs += DAY_MS
  }
}
const remove = (days: number, most?: number) => removeOld(store, days, nowMs, most)
const verify = (head?: string) => verifyAudit(store.db, head)
const records = () => auditStore(store.db).listAfter(0, 10_000)

/** A keeper, and the lines that it logs. */
async function keeping(level: 'info' | 'warn', { isOurs = true, days = 90 } = {}) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const counter = createAuditCounter(store, now)
  const keeper = await keepAudit({ store, counter, now, log, isOurs: () => isOurs, days })
  return { lines, keeper, [Symbol.asyncDispose]: () => keeper[Symbol.asyncDispose]() }
}

test('old records are removed once a day, and the rest is verified from the last removed record', async () => {
  await live(12)
  const { head } = await verify()
  await remove(5)
  const [first, ...rest] = await records()
  expect([first?.seq, rest.length]).toEqual([71, 50])
  expect(rest.at(-1)).toMatchObject({
    type: 'audit_removed',
    details: { first: 1, last: 70, hash: first?.previous },
  })
  expect(await verify(head)).toMatchObject({ records: 121, removed: 70, fault: undefined })
  expect((await verify('3:abc')).fault).toMatch(/3:abc was removed/)
  nowMs += DAY_MS / 4
  await remove(5)
  expect((await records()).length).toBe(51)
  await live(12)
  await remove(5)
  expect((await verify(head)).fault).toMatch(/was removed/)
  expect(await verify()).toMatchObject({ removed: 191, fault: undefined })
})

test('records beyond the maximum number are removed, whatever their age, and the last one stays', async () => {
  await live(1, 300)
  await remove(3_650, 100)
  expect((await records()).length).toBeLessThan(100)
  await remove(3_650, 1)
  expect((await records()).length).toBe(2)
  await live(1)
  expect((await verify()).fault).toBeUndefined()
})

test('two servers that remove the same records leave a chain that is verified', async () => {
  await live(12)
  await Promise.all([remove(5), remove(5)])
  await live(1)
  expect(await verify()).toMatchObject({ removed: 70, fault: undefined })
})

test('records that are written while others are, and during a verification, are one chain', async () => {
  await live(1)
  const writing = Array.from({ length: 40 }, (_, n) => append(n))
  const during = await Promise.all([verify(), verify(), ...writing])
  expect(during.slice(0, 2).map((seen) => seen?.fault)).toEqual([undefined, undefined])
  expect(await verify()).toMatchObject({ records: 50, fault: undefined })
})

test('a verification fails when more was removed than the audit records', async () => {
  await live(12)
  await remove(5)
  await store.db.deleteFrom('audit').where('seq', '<=', 75).execute()
  expect((await verify()).fault).toBe('record 71 is missing')
})

test('each record is logged once at level info, over restarts, by one server', async () => {
  await live(1, 3)
  await using first = await keeping('info')
  await live(1, 2)
  await first.keeper.tend()
  await first.keeper[Symbol.asyncDispose]()
  await live(1, 1)
  await using other = await keeping('info', { isOurs: false })
  await using second = await keeping('info')
  const logged = [...first.lines, ...second.lines].flatMap(({ audit }) => (audit ? [audit] : []))
  expect(logged).toEqual(await records())
  expect(other.lines.filter(({ audit }) => audit)).toEqual([])
})

test('the head is logged once a day at each level', async () => {
  await live(1)
  await using one = await keeping('warn')
  expect(one.lines).toEqual([])
  await live(1)
  await one.keeper.tend()
  await one.keeper.tend()
  expect(one.lines).toMatchObject([{ auditHead: (await verify()).head }])
})

test('a last record that disappears while the server runs is reported: a store may fail over to an older one', async () => {
  await live(1)
  await using one = await keeping('warn', { isOurs: false })
  const { head: lost } = await verify()
  // The last three records are gone, and others get their numbers.
  await store.db.deleteFrom('audit').where('seq', '>', 7).execute()
  await store.db.updateTable('counters').set({ value: 7 }).where('name', '=', 'audit').execute()
  for (let n = 0; n < 10; n += 1) await append(n)
  await one.keeper.tend()
  await one.keeper.tend()
  const missing = (await records()).filter(({ type }) => type === 'audit_head_missing')
  expect(missing.map(({ details }) => details?.['head'])).toEqual([lost])
  expect(one.lines).toMatchObject([{ auditHead: lost }])
})

test('a last record that was removed because of its age is not reported', async () => {
  await live(1)
  await using one = await keeping('warn', { days: 5 })
  nowMs += 30 * DAY_MS
  await live(1, 1)
  await one.keeper.tend()
  expect((await records()).map(({ type }) => type)).not.toContain('audit_head_missing')
  expect((await verify()).removed).toBe(10)
})
