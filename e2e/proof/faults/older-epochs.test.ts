import { type Load, startLoad } from '@fairlead/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { postgresHere } from '../../../packages/server/test/postgres-here.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { startServers } from '../../support/start-servers.ts'

const { from, to } = usualPair()

let postgres: TestPostgres | undefined
beforeAll(async () => {
  if (postgresHere() !== null) postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

test.skipIf(postgresHere() === null)(
  'PostgreSQL fails over to a replica that lacks the last second, in the middle of an upgrade: epochs are lower, leases have other holders, and the upgrade ends',
  async () => {
    if (postgres === undefined) throw new Error('there is no PostgreSQL')
    await using servers = await startServers(postgres, 2)
    const { fairlead, ask } = servers
    const uid = await create(fairlead)
    await servers.untilAllHoldSome()
    await using load = await loadOn(fairlead, uid)
    // Agent and proxy have seen epochs that the replica does not have.
    await ask('update buckets set expires_at = 1, epoch = epoch + 600')
    await servers.untilAllHoldSome()
    await upgrade(fairlead, uid, { engine_version: to })
    const { action_uid: asked } = await fairlead.api.upgradeDatabase({
      params: { uid },
      body: { force_restart: true, keep_engine_version: true },
    })
    await until('it has begun', async () => {
      const { progress } = await fairlead.api.getAction({ params: { uid: asked ?? '' } })
      return progress > 20
    })
    await ask("update buckets set epoch = epoch - 600, holder = 'one that was', expires_at = 1")
    const action = await fairlead.untilEnded(asked)
    expect(action.status, action.error).toBe('completed')
    await expectAllKept(load)
  },
)

async function create({ api, untilEnded }: Fairlead): Promise<number> {
  const { uid, action_uid } = await api.createDatabase({
    body: { name: 'older', memory_size: 0, replication: true, engine_version: from },
  })
  await untilEnded(action_uid)
  return uid
}

async function upgrade(
  { api, untilEnded }: Fairlead,
  uid: number,
  body: { readonly engine_version: string },
): Promise<void> {
  const { action_uid } = await api.upgradeDatabase({ params: { uid }, body })
  const action = await untilEnded(action_uid)
  expect(action.status, action.error).toBe('completed')
}

async function loadOn({ api, url, token }: Fairlead, uid: number): Promise<Load> {
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${url}/v1/bdbs/${uid}`, token }
  const load = await startLoad({ kind: 'incr', connections: 4, perSecond: 500, password, lookup })
  await load.untilAcked(100)
  return load
}

async function expectAllKept(load: Load): Promise<void> {
  await load.untilAcked(load.acked() + 100)
  const { errors } = await load.stop()
  const { lost, duplicated } = await load.readBack()
  expect({ lost, duplicated, errors }).toEqual({ lost: 0, duplicated: 0, errors: {} })
}
