import { type Operation, operations, Refusal } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { onlyLoopback } from '../../core/state/endpoint-reach.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import { createHttp } from '../../http/create-http.ts'
import { mountOn } from '../../http/mount.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import { nodesRoutes } from './nodes-routes.ts'

/** Serves a node with shards 1 and 2 of database 1, and 3 of 2. The token names its role's databases. */
function serve() {
  const grantsOf = (databases: readonly number[] | null) => [{ management: 'db_viewer', databases }] as const
  const http = createHttp({
    identify: (header, requester) => {
      const [, limits] = /^Bearer (.+)$/.exec(header ?? '') ?? []
      if (limits === undefined) throw new Refusal('unauthorized')
      const grants = grantsOf(limits === 'all' ? null : limits.split('+').map(Number))
      return { ...requester, user: { uid: 1, name: 'mia', grants }, token: null }
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  const report = { host: '127.0.0.1', shards: [{ id: 's1' }, { id: 's2' }, { id: 's3' }] }
  const { host } = report
  const nodes = { list: async () => [{ uid: 1, host, report, known: report }], knownBuilds: async () => [] }
  const databases = {
    shardsOf: async (uids: readonly number[]) => [
      ...(uids.includes(1) ? [1, 2] : []),
      ...(uids.includes(2) ? [3] : []),
    ],
  }
  // As much of both as the route asks for.
  nodesRoutes(
    mountOn(http),
    nodes as unknown as Nodes,
    databases as unknown as Databases,
    '0',
    () => onlyLoopback,
  )
  return http
}

test('of the shards of a node, a limited role sees those of its databases', async () => {
  const http = serve()
  const { method, path }: Operation = operations.listNodes
  const shardsSeen = async (limits: string) => {
    const answer = await http.inject({ method, url: path, headers: { authorization: `Bearer ${limits}` } })
    return answer.json()[0].shard_list
  }
  expect(await shardsSeen('all')).toEqual([1, 2, 3])
  expect(await shardsSeen('1')).toEqual([1, 2])
  expect(await shardsSeen('1+2')).toEqual([1, 2, 3])
  expect(await shardsSeen('7')).toEqual([])
})

test('of a node that is down, a list says what was last known, and nothing where nothing is', async () => {
  const known = {
    host: '127.0.0.1',
    cores: 4,
    memoryTotalBytes: 100,
    memoryFreeBytes: 40,
    diskFreeBytes: 7,
    shards: [{ id: 's1' }],
  }
  const down = { status: 'down', addr: '127.0.0.1', accept_servers: false }
  const heard = (await ask({ uid: 1, host: '127.0.0.1', report: null, known }))[0]
  const numbers = { cores: 4, total_memory: 100, free_memory: 40, free_disk: 7, shard_count: 1 }
  expect(heard).toMatchObject({ ...down, ...numbers, shard_list: [1] })
  const unheard = (await ask({ uid: 1, host: '127.0.0.1', report: null, known: null }))[0]
  expect(unheard).toMatchObject({ ...down, engine_wall_missing: 'the agent does not answer' })
  for (const field of [...Object.keys(numbers), 'shard_list']) expect(unheard).not.toHaveProperty(field)

  async function ask(node: object): Promise<readonly object[]> {
    const http = createHttp({
      identify: (_, requester) => {
        const grants = [{ management: 'admin', databases: null } as const]
        return { ...requester, user: { uid: 1, name: 'mia', grants }, token: null }
      },
      onRefused: async () => undefined,
      log: pino({ level: 'silent' }),
    })
    const nodes = { list: async () => [node], knownBuilds: async () => [] }
    nodesRoutes(mountOn(http), nodes as unknown as Nodes, {} as unknown as Databases, '0', () => onlyLoopback)
    return (await http.inject({ method: 'GET', url: '/v1/nodes' })).json()
  }
})

test('a list without the numbers that change with each look keeps its tag', async () => {
  let memoryFreeBytes = 40
  const report = () => ({ host: '127.0.0.1', memoryFreeBytes, shards: [] })
  const listed = async () => [{ uid: 1, host: '127.0.0.1', report: report(), known: report() }]
  const http = createHttp({
    identify: (_, requester) => {
      const grants = [{ management: 'admin', databases: null } as const]
      return { ...requester, user: { uid: 1, name: 'mia', grants }, token: null }
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  const nodes = { list: listed, knownBuilds: async () => [] }
  nodesRoutes(mountOn(http), nodes as unknown as Nodes, {} as unknown as Databases, '0', () => onlyLoopback)
  const ask = (url: string, tag = '') =>
    http.inject({ method: 'GET', url, headers: { 'if-none-match': tag } })
  const [whole, chosen] = ['/v1/nodes', '/v1/nodes?fields=uid,status,addr']
  const [first, second] = [await ask(whole), await ask(chosen)]
  memoryFreeBytes -= 1
  expect((await ask(whole, String(first.headers['etag']))).statusCode).toBe(200)
  expect((await ask(chosen, String(second.headers['etag']))).statusCode).toBe(304)
})

test('nodes are chosen by their address and state, and read in pages', async () => {
  const http = createHttp({
    identify: (_, requester) => {
      const grants = [{ management: 'admin', databases: null } as const]
      return { ...requester, user: { uid: 1, name: 'mia', grants }, token: null }
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  const report = (host: string, memoryFreeBytes: number) => ({ host, memoryFreeBytes, shards: [] })
  const listed = [report('10.0.0.9', 5), report('Host-B', 5), null, report('10.0.0.1', 7)]
  const nodes = {
    list: async () =>
      listed.map((one, n) => ({ uid: n + 1, host: one?.host ?? '', report: one, known: one })),
    knownBuilds: async () => [],
  }
  nodesRoutes(mountOn(http), nodes as unknown as Nodes, {} as unknown as Databases, '0', () => onlyLoopback)
  const ask = async (query: string) => {
    const { statusCode, headers, body } = await http.inject({ method: 'GET', url: `/v1/nodes?${query}` })
    const found: readonly { readonly uid: number }[] = JSON.parse(body)
    return { statusCode, found, uids: found.map(({ uid }) => uid), next: headers['x-next-cursor'] }
  }
  for (const [query, uids] of [
    ['', [1, 2, 3, 4]],
    ['q=HOST', [2]],
    ['q=10.', [1, 4]],
    ['q=3', [3]],
    ['status=down', [3]],
    ['sort=-free_memory', [4, 2, 1, 3]],
    ['sort=addr&status=active', [4, 1, 2]],
    ['offset=1&limit=2', [2, 3]],
  ] as const)
    expect([query, (await ask(query)).uids]).toEqual([query, uids])
  const first = await ask('sort=-free_memory&limit=2&fields=uid,status')
  expect(first.found).toEqual([
    { uid: 4, status: 'active' },
    { uid: 2, status: 'active' },
  ])
  const next = await ask(`sort=-free_memory&limit=2&cursor=${first.next}`)
  expect([next.uids, next.next]).toEqual([[1, 3], undefined])
})
