import { expect, test } from 'vitest'
import { readEngineMemory } from './read-engine-memory.ts'

const fields = {
  used_memory: '1000',
  maxmemory: '5000',
  maxmemory_policy: 'allkeys-lru',
  mem_clients_normal: '20',
  repl_backlog_active: '1',
  repl_backlog_size: '300',
  mem_replication_backlog: '300',
  mem_aof_buffer: '50',
  mem_clients_slaves: '40',
}

test('buffers of replication and of the append-only file do not count as data', () => {
  expect(readEngineMemory({ ...fields, mem_total_replication_buffers: '340' })).toEqual({
    limitBytes: 5000,
    evictionPolicy: 'allkeys-lru',
    backlogBytes: 300,
    hasBacklog: true,
    dataBytes: 610,
    clientBytes: 20,
  })
})

test('before redis 7.0 replicas have buffers of their own beside the backlog', () => {
  expect(readEngineMemory(fields).dataBytes).toBe(610)
})

test('an engine without followers has no backlog yet, whatever its size would be', () => {
  const alone = { ...fields, repl_backlog_active: '0', mem_replication_backlog: '0', mem_clients_slaves: '0' }
  expect(readEngineMemory({ ...alone, mem_total_replication_buffers: '0' })).toMatchObject({
    hasBacklog: false,
    backlogBytes: 300,
    dataBytes: 950,
  })
})
