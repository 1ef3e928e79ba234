import { expect, test } from 'vitest'
import { fieldsOf, persistenceOf, persistences, rulesOf } from './describe-persistence.ts'

const plain = { aof_policy: 'appendfsync-every-sec' } as const

test('what a loss of power costs is said of each way to keep data, and of an append-only file that it may be a second', () => {
  expect(persistenceOf({ ...plain, data_persistence: 'aof' })).toMatch(
    /up to about a second of acknowledged writes may be lost when the machine loses power/,
  )
  for (const { value } of persistences)
    expect(persistenceOf({ ...plain, ...fieldsOf(value) })).toContain('when the machine loses power')
})

test('what is chosen is what the API takes', () => {
  expect(fieldsOf('appendfsync-always')).toEqual({
    data_persistence: 'aof',
    aof_policy: 'appendfsync-always',
  })
  expect(fieldsOf('snapshot')).toEqual({ data_persistence: 'snapshot' })
})

test('the rules of snapshots are said where there are snapshots', () => {
  const snapshot_policy = [{ secs: 3_600, writes: 1 }]
  expect(rulesOf({ data_persistence: 'snapshot', snapshot_policy })).toBe('after 1 write in 3,600 seconds')
  expect(rulesOf({ data_persistence: 'aof', snapshot_policy })).toBe('')
})
