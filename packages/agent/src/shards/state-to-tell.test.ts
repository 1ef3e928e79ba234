import type { ShardReport } from '@fairlead/api'
import { expect, test } from 'vitest'
import { stateToTell } from './state-to-tell.ts'

const up: ShardReport = {
  id: 's1',
  state: 'running',
  revision: 'valkey-9.1.2+0',
  host: '127.0.0.1',
  port: 5_000,
  pid: 7,
  build: { flavour: 'valkey', version: '9.1.2' },
  startedAt: 1,
  crashes: 0,
  endedInOrder: false,
  beganAfterDeath: false,
  why: '',
  portTaken: false,
  failsToStart: null,
  memoryBytes: 0,
  evictionPolicy: 'noeviction',
  certificate: null,
  asleep: false,
  trouble: '',
  cannotRead: false,
  silence: null,
  disk: { lookedAt: 1, snapshot: null, aof: 'none', claim: null },
}
const silence = { forMs: 10, doing: 'works', hung: false, isLong: false, why: '', onDisk: false } as const
const tell = (report: Partial<ShardReport>) => stateToTell({ ...up, ...report }, '')

test('what a process that starts does meanwhile is not told', () => {
  const begun = tell({ state: 'starting' })
  expect(tell({ state: 'starting', silence })).toBe(begun)
  expect(tell({ state: 'starting', silence: { ...silence, doing: 'disk' } })).toBe(begun)
})

test('a start that takes seconds, or hangs, is told, and so is the silence of a process that serves', () => {
  const begun = tell({ state: 'starting' })
  expect(tell({ state: 'starting', silence: { ...silence, forMs: 1_000 } })).not.toBe(begun)
  expect(tell({ state: 'starting', silence: { ...silence, hung: true } })).not.toBe(begun)
  expect(tell({ silence })).not.toBe(tell({}))
})
