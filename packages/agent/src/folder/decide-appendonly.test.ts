import { expect, test } from 'vitest'
import { type DataOnDisk, decideAppendonly } from './decide-appendonly.ts'

const nothing: DataOnDisk = { snapshot: false, aof: false, aofComplete: false, stoppedCleanly: false }
const primary = { replicaOf: null } as const
const replica = { replicaOf: { host: '127.0.0.1', port: 1 } } as const

test.for([
  ['a fresh primary with an AOF', { ...primary, persistence: 'aof' }, nothing, true, null],
  ['a fresh primary without', { ...primary, persistence: 'disabled' }, nothing, false, null],
  [
    'only a snapshot: an engine that starts with the AOF on would start empty',
    { ...primary, persistence: 'aof' },
    { ...nothing, snapshot: true },
    false,
    true,
  ],
  [
    'an AOF that holds everything, after a crash',
    { ...primary, persistence: 'aof' },
    { ...nothing, snapshot: true, aof: true, aofComplete: true },
    true,
    null,
  ],
  [
    'an AOF that was off in the last process is old',
    { ...primary, persistence: 'aof' },
    { ...nothing, snapshot: true, aof: true, stoppedCleanly: true },
    false,
    true,
  ],
  [
    'the AOF is wanted no more, after a clean stop',
    { ...primary, persistence: 'disabled' },
    { snapshot: true, aof: true, aofComplete: true, stoppedCleanly: true },
    false,
    null,
  ],
  [
    'the AOF is wanted no more, after a crash: it still holds what the snapshot lacks',
    { ...primary, persistence: 'snapshot' },
    { snapshot: true, aof: true, aofComplete: true, stoppedCleanly: false },
    true,
    false,
  ],
  [
    'an old AOF is loaded if there is nothing else',
    { ...primary, persistence: 'disabled' },
    { ...nothing, aof: true },
    true,
    false,
  ],
  [
    'a replica always resumes from the snapshot',
    { ...replica, persistence: 'aof' },
    { snapshot: true, aof: true, aofComplete: true, stoppedCleanly: true },
    false,
    null,
  ],
] as const)('%s', ([, spec, disk, atStart, later]) => {
  expect(decideAppendonly(spec, disk)).toMatchObject({ atStart, later })
})
