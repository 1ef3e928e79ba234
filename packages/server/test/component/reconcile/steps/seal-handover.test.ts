import type { Build } from '@fairlead/api'
import { connectEngine, createEffect, type EngineConnection, replicationOf } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { soonInSync } from '../../../../../../proof/spawn-engine.ts'
import { until } from '../../../../../../proof/until.ts'
import { aloneFor } from '../../../../src/core/losses/lost-in-handover.ts'
import { releaseHandover } from '../../../../src/reconcile/steps/seal-handover.ts'
import { type Engines, tryingOn } from '../../../../src/reconcile/turn/engines.ts'
import { createTakeovers } from '../../../../src/reconcile/turn/take-over.ts'
import { realTime } from '../../../../src/reconcile/turn/time.ts'
import { ADMIN_PASSWORD, builds, startTestEngine, USER_PASSWORD } from '../../../engine.ts'
import { databaseOf, shardOf } from '../../../records.ts'
import { groupOf } from '../../../simulation/group.ts'

/** Pings are part of the stream: one between two looks would be a difference of the offsets. */
const withoutPings = 'repl-ping-replica-period 3600'
const settings = ['masteruser fairlead', `masterauth ${ADMIN_PASSWORD}`, withoutPings, ...soonInSync]

test.concurrent.each(builds)(
  'an old primary that is slow to link itself has not gone on alone, and one that wrote has: $flavour $version',
  async (build) => {
    await using one = await startTestEngine(build, settings)
    await using two = await startTestEngine(build, settings)
    const [old, successor] = [one.admin, two.admin]
    await follow(successor, old)
    await until('the engines agree', async () => (await replicationOf(successor)).link === 'up')
    await old.call('SET', 'both', 'have it')
    await until(
      'the engines agree',
      async () => (await replicationOf(successor)).offset === (await replicationOf(old)).offset,
    )
    await successor.call('REPLICAOF', 'NO', 'ONE')
    const branched = await replicationOf(successor)

    two.signal('SIGSTOP')
    await follow(old, successor)
    expect((await replicationOf(old)).link).toBe('down')
    expect(aloneFor(await replicationOf(old), branched)).toBe(0)
    two.signal('SIGCONT')
    await until('the engines agree', async () => (await replicationOf(old)).link === 'up')
    expect(aloneFor(await replicationOf(old), branched)).toBe(0)

    await old.call('REPLICAOF', 'NO', 'ONE')
    const before = await replicationOf(old)
    await follow(successor, old)
    await until('the engines agree', async () => (await replicationOf(successor)).link === 'up')
    await successor.call('REPLICAOF', 'NO', 'ONE')
    const again = await replicationOf(successor)
    await old.call('SET', 'alone', 'has it')
    two.signal('SIGSTOP')
    await follow(old, successor)
    const wrote = await replicationOf(old)
    expect(aloneFor(wrote, again)).toBe(wrote.offset - before.offset)
    expect(aloneFor(wrote, again)).toBeGreaterThan(20)
    two.signal('SIGCONT')
    await until('the engines agree', async () => (await replicationOf(old)).link === 'up')
    expect(aloneFor(await replicationOf(old), again)).toBeNull()
  },
)

test.concurrent.each(
  builds.filter(({ flavour, version }) => flavour !== 'redis' || !version.startsWith('6.')),
)(
  'in cluster mode the writes of an old primary go on only when it knows its successor: $flavour $version',
  async (build) => {
    await using one = await startTestEngine(build, settings)
    await using two = await startTestEngine(build, settings)
    const [old, successor] = [one.admin, two.admin]
    using client = await connectEngine({
      address: old.address,
      login: { username: 'default', password: USER_PASSWORD },
      connectTimeoutMs: 20_000,
      commandTimeoutMs: 20_000,
    })
    const release = () => releaseHandover(2, contextOf(build, [old, successor]))
    await old.call('CLIENT', 'PAUSE', 60_000, 'WRITE')
    const written = client.call('SET', 'late', 'write').catch((cause: Error) => cause.message)
    await until('the engines agree', async () => (await old.info('clients')).includes('blocked_clients:1'))
    expect(await release()).toEqual({ kind: 'done' })
    expect(await old.info('clients')).toContain('blocked_clients:1')

    await follow(old, successor)
    expect(await release()).toEqual({ kind: 'done' })
    expect(await written).toMatch(/^READONLY/)
  },
)

/** Shard 1 has handed over to shard 2, in cluster mode. It has no endpoint. */
function contextOf(
  build: Build,
  engines: readonly EngineConnection[],
): Parameters<typeof releaseHandover>[1] {
  const members = [1, 2].map((id) => shardOf(id, { runs: { build, restartNonce: 0, modules: [] } }))
  const handover = { from: 1, to: 2, released: false, ageMs: 5 }
  const connect: Engines['connect'] = async (_, { id }) => engines[id - 1] ?? unasked()
  const unasked = () => Promise.reject(new Error('nothing of it is needed here'))
  return {
    database: databaseOf({ cluster: true }),
    group: 0,
    members,
    everybody: members,
    seen: { ...groupOf(1), handover },
    ports: {
      engines: { connect, tryOn: tryingOn(connect) },
      databases: {
        portsWithin: unasked,
        countPortsWithin: unasked,
        setPrimary: async () => undefined,
        setEndpointPort: unasked,
      },
      shards: { portsWithin: unasked, countPortsWithin: unasked, listOf: unasked },
      handovers: { open: async () => undefined, release: unasked },
      proxy: { putEndpoint: unasked, releaseEndpoint: unasked },
      agent: { findFreePort: unasked },
      tls: { current: unasked },
      takeovers: createTakeovers(realTime),
      portRange: { from: 0, to: 0 },
      endpointAddresses: [],
      now: () => 0,
      runExclusive: (work) => work(),
      effect: createEffect(() => undefined),
    },
  }
}

async function follow(shard: EngineConnection, { address }: EngineConnection): Promise<void> {
  await shard.call('REPLICAOF', address.host, String(address.port))
}
