import { expect, test } from 'vitest'
import { refuseLackOfMemory, refuseTinyMemory } from './refused-memory.ts'

const MB = 1_000_000
const node = { totalBytes: 300 * MB, freeBytes: 280 * MB }

test('a new database whose primaries and replicas do not fit beside the reservations of other databases is refused, with the numbers', () => {
  const others = 100 * MB
  expect(refuseLackOfMemory({ memoryBytes: 100 * MB, replicas: 1 }, others, node)).toBeUndefined()
  expect(refuseLackOfMemory({ memoryBytes: 101 * MB, replicas: 1 }, others, node)).toMatchObject({
    refused: 'insufficient_resources',
    message:
      "memory_size: primaries and replicas together need 202 MB (2 times memory_size); shards may have 300 MB of the node's memory (FAIRLEAD_NODE_MEMORY_MB), other databases have reserved 100 MB, and 280 MB are free now: send 100000000 bytes or less, lower memory_size of other databases, or delete some",
  })
})

test('memory of other programs is not free either; a database without a limit reserves nothing', () => {
  const busy = { ...node, freeBytes: 0.4 * MB }
  const { message = '' } = refuseLackOfMemory({ memoryBytes: 2 * MB, replicas: 0 }, 0, busy) ?? {}
  expect(message).toMatch(/the database needs 2 MB;.*: lower memory_size of other databases, or delete some$/)
  expect(refuseLackOfMemory({ memoryBytes: 0, replicas: 1 }, 0, busy)).toBeUndefined()
})

test('a memory_size in which an empty engine has no room is refused; 0 is no limit', () => {
  const alone = { memoryBytes: 1_000, groups: 1, cluster: false }
  expect(refuseTinyMemory(alone)).toMatchObject({
    refused: 'memory_size_too_small',
    message:
      'memory_size: 1000 bytes are less than empty engines take; send 1000000 bytes or more (1 GB is 1000000000), or 0 for no limit',
  })
  expect(refuseTinyMemory({ ...alone, memoryBytes: 0 })).toBeUndefined()
  expect(refuseTinyMemory({ ...alone, memoryBytes: 1_000_000 })).toBeUndefined()
  expect(refuseTinyMemory({ memoryBytes: 8_999_999, groups: 3, cluster: true })?.message).toContain(
    'send 9000000 bytes or more',
  )
})
