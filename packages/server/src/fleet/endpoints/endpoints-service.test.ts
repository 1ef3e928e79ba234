import { ApiError, type ClientList } from '@fairlead/api'
import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import type { AgentLink } from '../../nodes/agent-link.ts'
import { type ProxyLink, ProxyUnreachable } from '../../nodes/proxy-link.ts'
import type { DatabaseView } from '../databases/databases-service.ts'
import { createEndpoints } from './endpoints-service.ts'

/** The endpoints of one database, whose proxy answers, or fails, so. */
function endpointsWith(
  endpointPort: number | null,
  listClients: ProxyLink['listClients'],
  died?: { readonly at: number; readonly why: string },
) {
  // Of both, only this is looked at.
  const view = { database: { endpointPort } } as DatabaseView
  const reportProxy = async () => ({ endpoints: [{ id: 'db7', why: '' }] })
  const proxy = { listClients, reportProxy } as unknown as ProxyLink
  const agent = {
    describeNode: async () => ({ proxy: died ? { diedBefore: died } : {} }),
  } as unknown as AgentLink
  return createEndpoints({
    databases: { get: async () => view },
    proxy,
    agent,
    tls: { current: () => Promise.reject(new Error('must not be asked for certificates')) },
    probeAsClient: () => Promise.reject(new Error('must not connect')),
    look: () => Promise.reject(new Error('must not look')),
    time: { elapsed: () => 0, pause: async () => undefined },
  })
}

const which = { limit: 5, via: '127.0.0.1:7' }

test('the list of clients passes its query on to the proxy', async () => {
  const none: ClientList = { connections: 3, clients: [] }
  const asked: unknown[] = []
  const endpoints = endpointsWith(1, async (input) => {
    asked.push(input)
    return none
  })
  expect(await endpoints.clients(7, which)).toEqual(none)
  expect(asked).toEqual([{ params: { id: 'db7' }, query: which }])
})

test('a database whose clients know its shards has no list of them', async () => {
  const endpoints = endpointsWith(null, () => Promise.reject(new Error('the proxy is not to be asked')))
  await expect(endpoints.clients(7, which)).rejects.toMatchObject({ code: 'endpoint_not_exist' })
})

test.each([
  ['endpoint_not_exist', new ApiError(404, 'not_found', 'there is no endpoint db7')],
  ['unavailable', new ApiError(503, 'unavailable', 'a worker of the proxy has not answered (clients)')],
  ['unavailable', new ProxyUnreachable('the endpoint does not answer')],
])('the answer is %s when the proxy answers: %s', async (code, cause) => {
  const endpoints = endpointsWith(1, () => Promise.reject(cause))
  await expect(endpoints.clients(7, which)).rejects.toMatchObject({ code, message: cause.message })
})

test('the statistics of an endpoint say why the former proxy died', async () => {
  const nobody = () => Promise.reject(new Error('clients are not asked for'))
  const died = {
    at: Date.UTC(2026, 10, 22),
    why: 'was stuck in one piece of work, and was killed: main takes …',
  }
  expect((await endpointsWith(1, nobody, died).stats(7)).why).toBe(
    'the previous proxy process died at 2026-11-22T00:00:00.000Z: was stuck in one piece of work, and was killed: main takes …',
  )
  expect((await endpointsWith(1, nobody).stats(7)).why).toBe('')
})

/** Endpoints of a database with a replica that has `offsets` of it at each look, of what its primary has. */
function lagging(offsets: readonly number[], written: readonly number[]) {
  let [looks, now] = [0, 0]
  const look = async () => {
    const group = groupOf(1)
    const at = (all: readonly number[]) => all[Math.min(looks, all.length - 1)] ?? 0
    const shards = group.shards.map((shard, n) => ({
      ...shard,
      engine: shard.engine && { ...shard.engine, offset: at(n === 0 ? written : offsets) },
    }))
    looks += 1
    return { groups: [{ ...group, shards }] }
  }
  const never = () => Promise.reject(new Error('must not be asked'))
  const endpoints = createEndpoints({
    databases: { get: async () => ({ database: { uid: 7, replicas: 1 } }) as DatabaseView },
    proxy: {} as ProxyLink,
    agent: {} as AgentLink,
    tls: { current: never },
    probeAsClient: never,
    look,
    time: {
      elapsed: () => now,
      pause: async (ms) => {
        now += ms
      },
    },
  })
  return { lag: (toleranceMs: number) => endpoints.lag(7, toleranceMs), waited: () => now }
}

test('a replica has the tolerance to get what was written before the question, and no write after it', async () => {
  const soon = lagging([0, 10], [10, 99])
  expect(await soon.lag(5_000)).toBeUndefined()
  expect(soon.waited()).toBeLessThan(5_000)
  const late = lagging([9], [10])
  expect(await late.lag(250)).toContain('0 of 1 replicas')
  expect(late.waited()).toBe(250)
})

test('an hour of tolerance is not waited for: programs give up earlier', async () => {
  const late = lagging([9], [10])
  expect(await late.lag(3_600_000)).toContain('0 of 1 replicas')
  expect(late.waited()).toBe(5_000)
})
