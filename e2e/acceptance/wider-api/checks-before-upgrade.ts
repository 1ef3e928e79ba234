import { expect } from 'vitest'
import type { Replay } from './replay.ts'

/** What a careful playbook asks before it upgrades the only database, which has one group with a replica. */
export const checksBeforeUpgrade: readonly Replay[] = [
  {
    sends: ['GET', '/v1/nodes/1'],
    reads: { uid: 1, status: 'active', accept_servers: true, external_addr: [], rack_id: '' },
  },
  { sends: ['GET', '/v1/nodes/9'], status: 404, reads: { error_code: 'node_not_exist' } },
  {
    sends: ['GET', '/v1/cluster/check'],
    reads: { cluster_test_result: true, nodes: [{ node_uid: '1', result: true }] },
  },
  { sends: ['GET', '/v1/nodes/1/check'], reads: { node_uid: '1', result: true } },
  { sends: ['GET', '/v1/nodes/9/check'], status: 404, reads: { error_code: 'node_not_exist' } },
  {
    sends: ['GET', '/v1/nodes/status'],
    reads: {
      1: {
        role: 'master',
        node_status: 'active',
        hostname: expect.any(String),
        cores: expect.any(Number),
        free_ram: expect.any(Number),
        total_memory: expect.any(Number),
        software_version: expect.any(String),
        master_shards: [expect.any(Number)],
        slave_shards: [expect.any(Number)],
      },
    },
  },
  { sends: ['GET', '/v1/nodes/1/status'], reads: { role: 'master', node_status: 'active' } },
  { sends: ['GET', '/v1/nodes/9/status'], status: 404, reads: { error_code: 'node_not_exist' } },
  { sends: ['GET', '/v1/cluster/actions'], reads: { actions: [] } },
  { sends: ['GET', '/v1/nodes/actions'], reads: { actions: [] } },
  { sends: ['GET', '/v1/nodes/1/actions'], reads: { actions: [] } },
  { sends: ['GET', '/v1/access'], reads: { master_node_addr: '127.0.0.1' } },
  {
    sends: ['GET', '/v1/cluster'],
    reads: {
      upgrade_in_progress: false,
      block_cluster_changes: false,
      upgrade_mode: false,
      rack_aware: false,
    },
  },
]
