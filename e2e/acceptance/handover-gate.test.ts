import { type EngineConnection, readReplication } from '@fairlead/engine'
import { startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { passGate } from '../../packages/server/src/reconcile/handover/handover-gate.ts'
import { realTime } from '../../packages/server/src/reconcile/turn/time.ts'
import { build } from '../../proof/engine-pairs.ts'
import { asAdmin, specOf } from '../../proof/roles.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'

/**
 * After a first full sync an engine says "link up" and "online" at once, and holds the stream back for up to
 * a second. A sibling in that second got a new primary that no longer had the writes which it missed.
 */
// invariant: A handover waits until the stream reaches every follower.
test('the gate stays closed while any follower, successor or not, has a link without a stream', async () => {
  await using fairlead = await startFairlead()
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'gated', memory_size: 0, replication: true, engine_version: build('redis', '7.0') },
  })
  await fairlead.untilEnded(action_uid)
  const { authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({ params: { uid } })
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  await using load = await startLoad({ kind: 'set', connections: 20, perSecond: 10_000, password, lookup })
  await load.untilAcked(5_000)
  await fairlead.server.end('SIGTERM') // nothing repairs the changes that this test makes

  using primary = await asAdmin(fairlead, 1)
  using sibling = await asAdmin(fairlead, 2)
  const port = specOf(fairlead.home, 1).tls?.port ?? 0
  const promised = await until('the sibling is linked and behind', () => resync(primary, sibling, port))
  await until(
    'the gate is open',
    async () =>
      (await passGate(
        primary,
        [sibling],
        (port) => `the shard at port ${port}`,
        realTime,
        AbortSignal.timeout(10_000),
      )) === undefined,
  )
  expect(readReplication(await sibling.info('replication')).offset).toBeGreaterThanOrEqual(promised)
})

/**
 * Makes an empty replica sync again, from the TLS `port` of its primary. Answers the primary's offset, if the
 * replica is then linked, online, and without a stream.
 */
async function resync(
  primary: EngineConnection,
  replica: EngineConnection,
  port: number,
): Promise<number | undefined> {
  await replica.call('REPLICAOF', 'NO', 'ONE')
  await replica.call('FLUSHALL') // a history of its own
  await replica.call('REPLICAOF', primary.address.host, port)
  await until('the engines call it linked and online', async () => {
    const [ahead, behind] = [await primary.info('replication'), await replica.info('replication')]
    return (
      readReplication(behind).link === 'up' && readReplication(ahead).replicas.every(({ online }) => online)
    )
  })
  const behind = readReplication(await replica.info('replication')).offset
  const ahead = readReplication(await primary.info('replication')).offset
  return ahead - behind > FAR_BYTES ? ahead : undefined
}

/** A stream that flows is not this far behind at this load. */
const FAR_BYTES = 20_000
