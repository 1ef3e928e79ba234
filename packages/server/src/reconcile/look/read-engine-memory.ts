import { type InfoFields, numberOf } from '@fairlead/engine'
import type { EngineMemory } from '../../core/state/topology.ts'

/**
 * Reads memory values from INFO. Since Redis 7.0 replicas and backlog share buffers
 * (mem_total_replication_buffers); before, they are counted separately.
 */
export function readEngineMemory(fields: InfoFields): EngineMemory {
  const backlog = numberOf(fields, 'mem_replication_backlog')
  const replication = Math.max(
    backlog + ('mem_total_replication_buffers' in fields ? 0 : numberOf(fields, 'mem_clients_slaves')),
    numberOf(fields, 'mem_total_replication_buffers'),
  )
  const buffers = replication + numberOf(fields, 'mem_aof_buffer')
  return {
    limitBytes: numberOf(fields, 'maxmemory'),
    evictionPolicy: fields['maxmemory_policy'] ?? '',
    backlogBytes: numberOf(fields, 'repl_backlog_size'),
    hasBacklog: fields['repl_backlog_active'] === '1',
    dataBytes: Math.max(0, numberOf(fields, 'used_memory') - buffers),
    clientBytes: numberOf(fields, 'mem_clients_normal'),
  }
}
