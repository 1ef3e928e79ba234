import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../packages/server/src/store/open-store.ts'
import { takeCommand } from './simulated-engine.ts'
import { judgeReal, judgeScale, type ScaleRun } from './summarize-scale.ts'
import { pagesBetween, readWal } from './watch-process.ts'

const run = (more: Partial<ScaleRun> = {}): ScaleRun => ({
  databases: 10,
  acceptedMs: 20,
  noticedMs: 100,
  upgradeMs: 1_500,
  idleCores: 0.03,
  rssBytes: 200e6,
  idleWritesASecond: 0,
  idleCommandsASecond: 10,
  tunnels: 0,
  pageMs: 5,
  listMs: 5,
  ...more,
})
const metBy = (runs: readonly ScaleRun[]) => judgeScale(runs).map(({ met }) => met)

test('a value that should be constant is judged by the smallest and the largest number of databases, others by the largest', () => {
  const flat = run({ databases: 1_000, acceptedMs: 30, pageMs: 7.5 })
  const between = run({ databases: 100, acceptedMs: 500, idleCores: 1 })
  expect(metBy([flat, between, run({ pageMs: 1 })])).not.toContain(false)
  const steep = run({ databases: 1_000, acceptedMs: 31, noticedMs: 151, upgradeMs: 2_260, pageMs: 7.6 })
  const page = run({ databases: 100 })
  expect(metBy([run(), page, steep])).toEqual([false, false, false, false, true, true, true])
  expect(metBy([run(), run({ databases: 2, idleCores: 1 })])).not.toContain(false)
})

test('an idle server that writes, or uses too much of the machine, misses its goals', () => {
  const busy = run({ idleCores: 0.051, rssBytes: 420e6, idleWritesASecond: 0.1 })
  expect(judgeScale([busy])).toMatchObject([
    { value: '5.1 %', met: false },
    { value: '401 MB', met: false },
    { value: '0.1', met: false },
  ])
})

test('if a list has no pages, no page is judged', () => {
  expect(judgeScale([run({ pageMs: null }), run({ databases: 100, pageMs: null })])).toHaveLength(6)
})

test('databases with engines are judged by medians, beside one alone and beside bare engines', () => {
  const created = { count: 100, ms: 15_000, bareMs: 10_000, walledMs: 12_000 }
  const real = { databases: 300, serverCores: 0.05, agentCores: 0.05, aloneMs: [1_000, 9_000, 1_000] }
  expect(judgeReal({ ...real, amongMs: [1_300], created })).toMatchObject([
    { value: '10.0 % (5.0 and 5.0)', met: true },
    { value: '1.3 / 1.0 s, 1.30 ×', met: true },
    { value: '15.0 / 10.0 s, 1.50 ×', met: true },
    { value: '12.0 s, 1.25 ×', met: null },
  ])
  const slower = { ...real, agentCores: 0.06, amongMs: [1_400], created: { ...created, ms: 15_100 } }
  expect(judgeReal(slower).map(({ met }) => met)).toEqual([false, false, false, null])
})

test('pages that a store writes are counted from outside', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-wal-'))
  try {
    await using store = await openStore(join(folder, 'store.db'))
    const wal = () => readWal(join(folder, 'store.db-wal'))
    const write = (name: string) => store.db.insertInto('settings').values({ name, value: '' }).execute()
    await write('a')
    const before = wal()
    expect(pagesBetween(before, wal())).toBe(0)
    await write('b')
    expect(pagesBetween(before, wal())).toBe(2) // of the table, and of its index
    await store.rewrite()
    await write('c')
    expect(pagesBetween(before, wal())).toBeGreaterThan(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a simulated engine takes a command when it is complete', () => {
  const text = '*2\r\n$4\r\nINFO\r\n$6\r\nmemory\r\n'
  for (let length = 0; length < text.length; length += 1)
    expect(takeCommand(text.slice(0, length))).toBeUndefined()
  expect(takeCommand(`${text}*1\r\n`)).toEqual({ words: ['INFO', 'memory'], length: text.length })
})
