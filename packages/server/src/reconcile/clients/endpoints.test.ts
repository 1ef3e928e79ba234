import type { EndpointReport, EndpointSpec } from '@fairlead/api'
import { createEffect, passwordDigest, passwordsMark } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { databaseOf, shardOf } from '../../../test/records.ts'
import { groupOf } from '../../../test/simulation/group.ts'
import type { FormerAccess } from '../../core/access/former-access.ts'
import { type Database, type ShardRecord, steadyGoal } from '../../core/state/database.ts'
import type { ObservedGroup } from '../../core/state/topology.ts'
import { createTurnMemory } from '../turn/turn-memory.ts'
import { keepEndpoint } from './endpoints.ts'

const host = '127.0.0.1'
const at = (port: number) => ({ host, port })

/** A database of two groups with the shards 1 and 2 as primaries. */
const database = databaseOf({
  uid: 7,
  cluster: true,
  clientsKnowShards: false,
  tls: true,
  endpointPort: 20_000,
  groups: [
    { number: 0, slots: { first: 0, last: 8_191 }, primaryShard: 1, history: null },
    { number: 1, slots: { first: 8_192, last: 16_383 }, primaryShard: 2, history: null },
  ],
})
const goal = steadyGoal(database)
const unasked = () => Promise.reject(new Error('nothing of it is needed here'))
const certificate = { cert: 'cert', key: 'key', fingerprint: 'print', isOurs: true }

/** One group with these shards, as far as endpoints look at them. */
function groupsOf(shards: readonly object[]) {
  return shards.length === 0 ? [] : [{ ...groupOf(1), shards } as unknown as ObservedGroup]
}

/** Keeps its endpoint, turn after turn, at a proxy that reports these numbers of doubts. */
function keeper(endpointAddresses: readonly string[] = [], changed: Partial<Database> = {}) {
  let { former } = { ...database, ...changed }
  const puts: EndpointSpec[] = []
  const warned: unknown[] = []
  let nowMs = 0
  let count = 0
  let missing: EndpointReport['missing'] = []
  let uses: NonNullable<EndpointReport['former']> = []
  let shards: readonly ShardRecord[] = []
  const ports: Parameters<typeof keepEndpoint>[3] = {
    shards: { portsWithin: unasked, countPortsWithin: unasked, listOf: async () => shards },
    databases: {
      portsWithin: unasked,
      countPortsWithin: unasked,
      setEndpointPort: unasked,
      forgetFormer: async (_, ended) => {
        former = former.filter((one) => !ended.includes(one))
      },
    },
    agent: { findFreePort: unasked },
    tls: { current: async () => ({ ca: 'authority', proxy: certificate }) },
    proxy: {
      removeEndpoint: unasked,
      putEndpoint: async ({ body }) => {
        puts.push(body)
        const former = uses.filter(({ port }) => body.former?.some((one) => one.port === port))
        return { doubted: { count, why: 'slot 5 is elsewhere' }, missing, former } as EndpointReport
      },
    },
    log: { info: () => undefined, warn: (what: unknown) => void warned.push(what), error: () => undefined },
    portRange: { from: 0, to: 0 },
    endpointAddresses,
    runExclusive: (work) => work(),
    effect: createEffect(() => undefined),
    now: () => nowMs,
  }
  const memory = createTurnMemory(() => nowMs)
  return {
    puts,
    warned,
    former: () => former,
    async turn(now: {
      readonly ids: readonly number[]
      readonly doubts?: number
      readonly missing?: EndpointReport['missing']
      readonly uses?: typeof uses
      readonly shards?: readonly object[]
      readonly afterMs?: number
    }) {
      shards = now.ids.map((id) => shardOf(id))
      count = now.doubts ?? count
      missing = now.missing ?? missing
      uses = now.uses ?? uses
      nowMs += now.afterMs ?? 1_000
      await keepEndpoint(
        { ...database, ...changed, former },
        goal,
        { groups: groupsOf(now.shards ?? []) },
        ports,
        memory,
      )
    },
  }
}

test('the endpoint is told of all shards where slots may be, and of each that comes or goes, at once', async () => {
  const { puts, turn } = keeper()
  await turn({ ids: [1, 2, 3] })
  await turn({ ids: [1, 2, 3] })
  await turn({ ids: [1, 2, 3, 4] })
  await turn({ ids: [1, 2, 4] })
  expect(puts.map(({ replicas }) => replicas)).toEqual([[at(20_003)], [at(20_003), at(20_004)], [at(20_004)]])
  expect(puts[0]?.shards?.map(({ upstream }) => upstream)).toEqual([at(20_001), at(20_002)])
})

test('redirects that the endpoint did not follow are reported once, with their number', async () => {
  const { warned, turn } = keeper()
  const later = { ids: [1, 2], afterMs: 10_000 }
  await turn({ ...later, doubts: 0 })
  await turn({ ...later, doubts: 3 })
  await turn(later)
  await turn({ ...later, doubts: 4 })
  // Another proxy process counts from 0.
  await turn({ ...later, doubts: 2 })
  const why = 'slot 5 is elsewhere'
  expect(warned).toEqual([3, 1, 2].map((count) => ({ database: 7, count, why })))
})

test('the endpoint gets the addresses of the configuration, and where it cannot listen is reported once', async () => {
  const { puts, warned, turn } = keeper(['10.1.2.3', '::1'])
  const later = { ids: [1, 2], afterMs: 10_000 }
  const missing = [{ host: '10.1.2.3', why: 'not there' }]
  for (const now of [missing, missing, [], missing]) await turn({ ...later, missing: now })
  expect(puts[0]).toMatchObject({ host, also: ['10.1.2.3', '::1'] })
  expect(warned).toEqual([1, 2].map(() => ({ database: 7, why: '10.1.2.3: not there' })))
})

test('former ports and names are served until their time, or until a port had no client for an hour', async () => {
  const until = new Date(60_000).toISOString()
  const begun: FormerAccess[] = [
    { kind: 'place', port: 1, tls: true, until },
    { kind: 'place', port: 2, tls: false, until: new Date(9e9).toISOString() },
    { kind: 'name', name: 'bills', until },
  ]
  const { puts, former, turn } = keeper([], { former: begun, tls: false })
  const quiet = { port: 2, tls: false, connections: 0, quietMs: 3_599_000 }
  await turn({ ids: [1, 2], uses: [quiet] })
  expect(puts.at(-1)).toMatchObject({
    former: [
      { port: 1, tls: { cert: 'cert', key: 'key' } },
      { port: 2, tls: null },
    ],
    formerNames: ['bills'],
  })
  expect(former()).toEqual(begun)
  await turn({ ids: [1, 2], afterMs: 60_000 })
  expect(puts.at(-1)?.former).toEqual([{ port: 2, tls: null }])
  expect(puts.at(-1)).not.toHaveProperty('formerNames')
  expect(former()).toEqual([begun[1]])
  await turn({ ids: [1, 2], uses: [{ ...quiet, quietMs: 3_600_000 }], afterMs: 20_000 })
  expect(former()).toEqual([])
  await turn({ ids: [1, 2], afterMs: 20_000 })
  expect(puts.at(-1)).not.toHaveProperty('former')
})

test('a former password is forgotten when every process takes only the other one, with an endpoint and without', async () => {
  const begun: FormerAccess[] = [{ kind: 'password', digest: 'a', until: new Date(0).toISOString() }]
  const running = (passwords: string) => [{ ...groupOf(1).shards[0], process: 'running', passwords }]
  for (const clientsKnowShards of [false, true]) {
    const { former, puts, turn } = keeper([], { former: begun, clientsKnowShards })
    await turn({ ids: [1, 2], shards: running('both') })
    expect(former()).toEqual(begun)
    const only = passwordsMark([passwordDigest(database.userPassword)])
    await turn({ ids: [1, 2], shards: running(only), afterMs: 10_000 })
    expect(former()).toEqual([])
    expect(puts.map(({ passwords }) => passwords?.length)).toEqual(clientsKnowShards ? [] : [undefined, 1])
  }
})
