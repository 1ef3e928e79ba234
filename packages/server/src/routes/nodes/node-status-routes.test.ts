import { Refusal } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import { createHttp } from '../../http/create-http.ts'
import { mountOn } from '../../http/mount.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import { nodeStatusRoutes } from './node-status-routes.ts'

const running = { state: 'running', silence: null }
const healthy = {
  host: '127.0.0.1',
  cores: 4,
  memoryTotalBytes: 100,
  memoryFreeBytes: 40,
  proxy: { state: 'running' },
  shards: [1, 2, 3].map((n) => ({ id: `s${n}`, ...running })),
}

/**
 * Serves one node with this report. Shards 1 and 2 belong to database 1, shard 3 to database 2; 1 and 3 are
 * primaries. The token names the databases of its role.
 */
function serve(report: object | null, known = report) {
  const http = createHttp({
    identify: (header, requester) => {
      const [, limits] = /^Bearer (.+)$/.exec(header ?? '') ?? []
      if (limits === undefined) throw new Refusal('unauthorized')
      const databases = limits === 'all' ? null : limits.split('+').map(Number)
      const grants = [{ management: 'db_viewer', databases }] as const
      return { ...requester, user: { uid: 1, name: 'mia', grants }, token: null }
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  const nodes = { list: async () => [{ uid: 1, host: '127.0.0.1', report, known }] }
  const databases = {
    shardsOf: async (uids: readonly number[]) => uids.flatMap((uid) => (uid === 1 ? [1, 2] : [3])),
    primaries: async () => [1, 3],
  }
  // As much of both as the routes ask for.
  nodeStatusRoutes(mountOn(http), nodes as unknown as Nodes, databases as unknown as Databases, '0.1.0')
  return async (url: string, limits = 'all') =>
    (await http.inject({ method: 'GET', url, headers: { authorization: `Bearer ${limits}` } })).json()
}

test('the status of a node has its shards by their roles, and a limited role sees those of its databases', async () => {
  const ask = serve(healthy)
  const node = { hostname: '127.0.0.1', node_status: 'active', role: 'master', cores: 4, free_ram: 40 }
  expect(await ask('/v1/nodes/status')).toMatchObject({
    1: { ...node, master_shards: [1, 3], slave_shards: [2] },
  })
  expect(await ask('/v1/nodes/1/status', '1')).toMatchObject({
    ...node,
    master_shards: [1],
    slave_shards: [2],
  })
  expect(await ask('/v1/nodes/1/status', '2')).toMatchObject({ master_shards: [3], slave_shards: [] })
  const down = { hostname: '127.0.0.1', node_status: 'down', role: 'master', software_version: '0.1.0' }
  expect(await serve(null)('/v1/nodes/1/status')).toEqual(down)
  // The last report of its agent.
  expect(await serve(null, healthy)('/v1/nodes/1/status')).toMatchObject({
    ...down,
    cores: 4,
    free_ram: 40,
    master_shards: [1, 3],
  })
})

test('a check says what is wrong first, and names no shard', async () => {
  const checks = async (report: object | null) => {
    const ask = serve(report)
    const [all, one] = [await ask('/v1/cluster/check'), await ask('/v1/nodes/1/check')]
    expect(all).toEqual({ cluster_test_result: one.result, nodes: [one] })
    return one
  }
  expect(await checks(healthy)).toEqual({ node_uid: '1', result: true })
  const wrong = { node_uid: '1', result: false }
  expect(await checks(null)).toEqual({ ...wrong, error: 'the agent does not answer' })
  expect(await checks({ ...healthy, proxy: { state: 'failed' } })).toEqual({
    ...wrong,
    error: 'the proxy, which serves the endpoints, is failed',
  })
  const hung = { id: 's2', state: 'running', silence: { isLong: true } }
  for (const shard of [{ id: 's2', state: 'exited', silence: null }, hung])
    expect(await checks({ ...healthy, shards: [{ id: 's1', ...running }, shard] })).toEqual({
      ...wrong,
      error: 'of 2 shards, 1 do not run, or do not answer',
    })
})

test('there are no actions of nodes and of the cluster, and none of a node that is not there', async () => {
  const ask = serve(healthy)
  for (const path of ['/v1/cluster/actions', '/v1/nodes/actions', '/v1/nodes/1/actions'])
    expect(await ask(path)).toEqual({ actions: [] })
  for (const path of ['actions', 'status', 'check'])
    expect(await ask(`/v1/nodes/2/${path}`)).toMatchObject({ error_code: 'node_not_exist' })
  expect(await ask('/v1/access')).toEqual({ master_node_addr: '127.0.0.1' })
})
