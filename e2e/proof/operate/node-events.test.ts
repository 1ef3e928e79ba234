import {
  type ClusterEvent,
  createClient,
  fetchStreamTransport,
  fetchTransport,
  operations,
} from '@fairlead/api'
import { expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

type NodeEvent = Extract<ClusterEvent, { readonly type: 'node' }>

test('a follower hears that the agent is gone, and that it is back: after its end, and after a pause', {
  timeout: 180_000,
}, async () => {
  await using fairlead = await startFairlead()
  const { api, agent } = fairlead
  const stop = new AbortController()
  const seen: ClusterEvent[] = []
  const client = clientOf(fairlead)
  const followed = (async () => {
    const events = client.followEvents({ query: { topics: 'nodes' } }, { signal: stop.signal })
    for await (const event of events) seen.push(event)
  })().catch((cause: unknown) => cause)
  await until('the snapshot', () => seen.some(({ type }) => type === 'live'))
  const nodes = () => seen.filter((event): event is NodeEvent => event.type === 'node')
  const last = () => nodes().at(-1)?.node
  const listed = async (status?: 'active' | 'down') =>
    (await api.listNodes({ query: { fields: 'uid,status', ...(status && { status }) } })).length
  expect([last()?.status, await listed('active')]).toEqual(['active', 1])
  const whole = last()

  await agent.end('SIGKILL')
  await until('it is down', () => last()?.status === 'down')
  const lost = {
    ...whole,
    status: 'down',
    engine_wall: false,
    engine_wall_missing: 'the agent does not answer',
  }
  expect(last()).toEqual(lost)
  expect([await listed('down'), await listed('active'), await listed()]).toEqual([1, 0, 1])
  await agent.start()
  await until('it is back', () => last()?.status === 'active')
  expect([last(), await listed('active')]).toEqual([whole, 1])

  process.kill(agent.pid, 'SIGSTOP')
  try {
    await until('it is down while it is stopped', () => last()?.status === 'down')
    expect(await listed('down')).toBe(1)
    expect(await toldFirst(client)).toMatchObject({ type: 'node', node: { status: 'down' } })
  } finally {
    process.kill(agent.pid, 'SIGCONT')
  }
  await until('it is back from its pause', () => last()?.status === 'active')
  expect([last(), await listed('active')]).toEqual([whole, 1])
  stop.abort(new Error('enough'))
  await followed

  expect(seen.filter(({ type }) => type === 'snapshot')).toHaveLength(1)
  // Each change once, and nothing else: what is the same is not told.
  expect(nodes().map(({ node }) => node?.status)).toEqual(['active', 'down', 'active', 'down', 'active'])
})

test('while the agent is stopped, what asks it is answered with what is known', {
  timeout: 180_000,
}, async () => {
  await using fairlead = await startFairlead()
  const { api, agent } = fairlead
  const body = { name: 'known', memory_size: 0, engine_version: build('valkey', '8.1') }
  const { uid, action_uid } = await api.createDatabase({ body })
  await fairlead.untilEnded(action_uid)
  const [[node], status, [shard]] = [
    await api.listNodes({ query: {} }),
    await api.getNodeStatus({ params: { uid: 1 } }),
    await api.listDatabaseShards({ params: { uid } }),
  ]
  expect([node, status, shard]).toMatchObject([
    { shard_list: [1] },
    { master_shards: [1] },
    { status: 'active' },
  ])

  process.kill(agent.pid, 'SIGSTOP')
  try {
    const away = 'the agent does not answer'
    // Each look before the stop has seen another amount.
    const free = { free_memory: expect.any(Number), free_disk: expect.any(Number) }
    expect(await api.listNodes({ query: {} })).toEqual([
      {
        ...node,
        ...free,
        status: 'down',
        accept_servers: false,
        engine_wall: false,
        engine_wall_missing: away,
      },
    ])
    expect(await api.getNodeStatus({ params: { uid: 1 } })).toEqual({
      ...status,
      free_ram: expect.any(Number),
      node_status: 'down',
    })
    const unknown = {
      status: 'inactive',
      detailed_status: 'unknown',
      started: null,
      status_reason: expect.stringMatching(/./),
      duty: null,
      offset: null,
      used_memory: null,
    }
    for (const answer of [
      await api.listDatabaseShards({ params: { uid } }),
      await api.listShards({ query: {} }),
      [await api.getShard({ params: { uid: 1 } })],
    ])
      expect(answer).toMatchObject([{ uid: '1', role: 'master', port: shard?.port, ...unknown }])
  } finally {
    process.kill(agent.pid, 'SIGCONT')
  }
})

const clientOf = ({ url, token }: Fairlead) =>
  createClient(operations, fetchTransport(url), () => token, fetchStreamTransport(url))

/** What a follower that comes now is told of the node. */
async function toldFirst(client: ReturnType<typeof clientOf>): Promise<ClusterEvent | undefined> {
  for await (const event of client.followEvents({ query: { topics: 'nodes' } }))
    if (event.type === 'node') return event
  return undefined
}
