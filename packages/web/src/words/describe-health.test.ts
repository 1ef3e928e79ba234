import { expect, test } from 'vitest'
import { errorsOf, memoryOf, replicasOf } from './describe-health.ts'

const MIB = 1 << 20
const replica = (link: 'up' | 'down', lag_bytes: number | null) =>
  ({ role: 'slave', link, lag_bytes, detailed_status: 'ok' }) as const
const primary = { role: 'master', link: null, lag_bytes: null, detailed_status: 'ok' } as const

const alone = { memory_size: 64 * MIB, replication: false }

test('memory is said beside its limit, as a share of it only where no replication backlog is in it, and marked when it is nearly full or evicts', () => {
  expect(memoryOf({ used_memory: 32 * MIB }, alone)).toEqual({ words: '32 MiB of 64 MiB, 50 %' })
  expect(memoryOf({ used_memory: 60 * MIB }, alone)).toMatchObject({ tone: 'wait' })
  const replicated = { ...alone, replication: true }
  expect(memoryOf({ used_memory: 70 * MIB }, replicated)).toEqual({ words: '70 MiB; data up to 64 MiB' })
  expect(memoryOf({ used_memory: 70 * MIB, evicted_objects: 8 }, replicated)).toEqual({
    words: '70 MiB; data up to 64 MiB, evicts 8 keys/s',
    tone: 'wait',
  })
  expect(memoryOf({ used_memory: 60 * MIB }, { ...alone, memory_size: 0 })).toEqual({
    words: '60 MiB, no limit',
  })
  expect(memoryOf({}, alone)).toEqual({ words: '–' })
})

test('a replica without a link is bad, one that is missing is waited for, and none at all is no fault where none was asked for', () => {
  expect(replicasOf([primary, replica('up', 12)], true)).toEqual({ words: '1 linked, 12 B behind' })
  expect(replicasOf([primary, replica('down', null), replica('up', 0)], true)).toEqual({
    words: '1 of 2 links up',
    tone: 'bad',
  })
  expect(replicasOf([primary], true)).toMatchObject({ tone: 'wait' })
  expect(replicasOf([primary], false)).toEqual({ words: 'none' })
})

test('what is not known is not said to be none', () => {
  expect(errorsOf(undefined).words).toBe('–')
  expect(errorsOf(0)).toEqual({ words: '0' })
  expect(errorsOf(2)).toMatchObject({ words: '2', tone: 'wait' })
})
