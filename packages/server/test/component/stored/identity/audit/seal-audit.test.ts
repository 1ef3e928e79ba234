import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fairlead } from '../../../../../src/core/identity/audit-record.ts'
import { createAuditCounter } from '../../../../../src/identity/audit/audit-counter.ts'
import { type AuditFiles, openAuditFiles } from '../../../../../src/identity/audit/audit-files.ts'
import { keepAudit } from '../../../../../src/identity/audit/keep-audit.ts'
import { sealAudit } from '../../../../../src/identity/audit/seal-audit.ts'
import { verifyAudit } from '../../../../../src/identity/audit/verify-audit.ts'
import { auditStore } from '../../../../../src/identity/stores/audit-store.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { createSecretBox } from '../../../../../src/store/secret-box.ts'
import { openTestStore } from '../../../../open-test-store.ts'

const DAY_MS = 86_400_000
const begin = Date.parse('2026-01-01T12:00:00Z')
let home: string
let store: Store
let files: AuditFiles
let nowMs: number
const now = () => nowMs
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'fairlead-audit-'))
  store = await openTestStore(join(home, 'store.db'))
  files = openAuditFiles(home, createSecretBox(randomBytes(32)))
  nowMs = begin
})
afterEach(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

/** This many records a day. */
async function live(days: number, each = 10): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    await store.transaction(async (db) => {
      for (let n = 0; n < each; n += 1) {
        const details = { kid: randomBytes(50).toString('hex') }
        const event = { type: 'signing_key_changed', by: fairlead, details } as const
        await auditStore(db).append(event, new Date(nowMs).toISOString())
      }
    })
    nowMs += DAY_MS
  }
}
const seal = (retention: { days?: number; sealedBytes?: number } = {}, most?: number) =>
  sealAudit({ store, files, now }, { days: 5, sealedBytes: 1e9, ...retention }, most)
const verify = (head?: string) => verifyAudit(store.db, files, head)
const inStore = async () => (await auditStore(store.db).listAfter(0, 10_000)).length
const segments = () => readdirSync(join(home, 'audit')).filter((file) => file.endsWith('.gz'))

test('old records move from the store into a file, and can still be read and verified', async () => {
  await live(12)
  const { head } = await verify()
  await seal()
  expect(segments()).toEqual(['records-1-70.jsonl.gz'])
  const [file = ''] = segments()
  expect(statSync(join(home, 'audit', file)).mode & 0o777).toBe(0o600)
  const lines = gunzipSync(readFileSync(join(home, 'audit', file)))
    .toString()
    .trimEnd()
    .split('\n')
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual(Array.from({ length: 70 }, (_, n) => n + 1))
  expect(await inStore()).toBe(51) // and one that says what was sealed
  expect(await verify(head)).toMatchObject({ records: 121, fault: undefined })
  await live(12)
  await seal()
  expect(segments().length).toBe(2)
  expect(await verify(head)).toMatchObject({ records: 242, removed: 0, fault: undefined })
})

test('records beyond the limit of the store are sealed, whatever their age, and the last one stays', async () => {
  await live(1, 300)
  await seal({ days: 3_650 }, 100)
  expect(await inStore()).toBeLessThan(100)
  await seal({ days: 3_650 }, 1)
  expect(await inStore()).toBe(2)
  await live(1)
  expect((await verify()).fault).toBeUndefined()
})

test('of two servers that seal the same records one does, and nothing is lost or there twice', async () => {
  await live(12)
  const { head } = await verify()
  // Each has read the records before the other has taken them out.
  const both = Promise.withResolvers<void>()
  let writing = 0
  const together: AuditFiles = {
    ...files,
    async writeSegment(records) {
      writing += 1
      if (writing === 2) both.resolve()
      await both.promise
      return files.writeSegment(records)
    },
  }
  const sealing = () => sealAudit({ store, files: together, now }, { days: 5, sealedBytes: 1e9 })
  const outcomes = await Promise.allSettled([sealing(), sealing()])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(segments()).toEqual(['records-1-70.jsonl.gz'])
  expect(await verify(head)).toMatchObject({ records: 121, fault: undefined })
})

test('a sealed file that is changed, missing, or swapped is found', async () => {
  await live(12)
  await seal()
  await live(12)
  await seal()
  const [one = '', two = ''] = segments().map((file) => join(home, 'audit', file))
  renameSync(one, `${one}.kept`)
  expect((await verify()).fault).toMatch(/audit\/records-1-70.jsonl.gz is missing/)
  renameSync(two, one)
  expect((await verify()).fault).toMatch(/records-1-70.jsonl.gz was changed/)
  renameSync(one, two)
  renameSync(`${one}.kept`, one)
  expect((await verify()).fault).toBeUndefined()
  appendFileSync(two, 'x')
  expect((await verify()).fault).toMatch(/was changed/)
})

test('files beyond the size limit are deleted, the oldest first; the rest can still be verified, and reports the deletion', async () => {
  await live(12)
  const { head } = await verify()
  await seal()
  const [first = ''] = segments()
  await live(12)
  await seal({ sealedBytes: 20_000 })
  expect(segments()).not.toContain(first)
  expect(segments().length).toBe(1)
  const seen = await verify()
  expect(seen).toMatchObject({ removed: 70, fault: undefined })
  const types = (await auditStore(store.db).listAfter(0, 10_000)).map(({ type }) => type)
  expect(types).toContain('audit_removed')
  expect((await verify(head)).fault).toBeUndefined() // record 120 is in the second file
  expect((await verify('3:abc')).fault).toMatch(/records-1-70.jsonl.gz, which was deleted to make room/)
})

test('the head is signed after each change, and logged once a day', async () => {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const counter = createAuditCounter(store, now)
  await live(1)
  await using keeper = await keepAudit({
    ...{ store, files, counter, now, log, isToSeal: () => true },
    retention: { days: 90, sealedBytes: 1e9 },
  })
  const signed = async () => (await files.readCheckpoints()).last?.seq
  expect(await signed()).toBe(10)
  expect((await verify()).signedAt).toBe(new Date(nowMs).toISOString())
  expect(lines).toEqual([])
  await live(1)
  await keeper.tend()
  await keeper.tend()
  expect(await signed()).toBe(20)
  expect(lines.length).toBe(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ auditHead: (await verify()).head })
})

test('a signed head that disappears while the server runs is reported and kept: a store may fail over to an older one', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const counter = createAuditCounter(store, now)
  await live(1)
  await using keeper = await keepAudit({
    ...{ store, files, counter, now, log, isToSeal: () => false },
    retention: { days: 90, sealedBytes: 1e9 },
  })
  const { head: lost } = await verify()
  // The last three records are gone, and others take their numbers.
  await store.db.deleteFrom('audit').where('seq', '>', 7).execute()
  await store.db.updateTable('counters').set({ value: 7 }).where('name', '=', 'audit').execute()
  await live(1)
  await keeper.tend()
  const missing = (await auditStore(store.db).listAfter(0, 100)).filter(
    ({ type }) => type === 'audit_head_missing',
  )
  expect(missing.map(({ details }) => details?.['head'])).toEqual([lost])
  expect(lines.length).toBe(1)
  expect((await files.readCheckpoints()).lost.map(({ seq }) => seq)).toEqual([10])
  await keeper.tend()
  expect(lines.length).toBe(1)
})

test('a head that was sealed after it was signed is found', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const counter = createAuditCounter(store, now)
  await live(1)
  await using keeper = await keepAudit({
    ...{ store, files, counter, now, log, isToSeal: () => true },
    retention: { days: 5, sealedBytes: 1e9 },
  })
  nowMs += 30 * DAY_MS
  await live(1, 1)
  await keeper.tend()
  expect(segments()).toEqual(['records-1-10.jsonl.gz'])
  expect(lines).toEqual([])
  expect((await verify()).fault).toBeUndefined()
})
