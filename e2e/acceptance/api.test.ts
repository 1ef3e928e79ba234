import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { untilAction } from '../../proof/way-back.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()

/** Refusals are in the component tests of the server, and in e2e/proof/operate/api.test.ts. */
describe('a database', () => {
  test('is created as asked, serves at one port, names its clients, and is gone with its processes', async ({
    fairlead,
  }) => {
    const { api } = fairlead
    const asked = {
      name: freshName('orders'),
      memory_size: 50_000_000,
      replication: true,
      ...({ data_persistence: 'aof', aof_policy: 'appendfsync-always' } as const),
      eviction_policy: 'allkeys-lru' as const,
    }
    const { uid, port, password, ...shown } = await createDatabase(fairlead, { ...asked, engine_version: to })
    expect(shown).toMatchObject({ ...asked, status: 'active', endpoints: [{ addr: ['127.0.0.1'], port }] })
    expect(await api.listDatabaseShards({ params: { uid } })).toMatchObject([
      { bdb_uid: uid, role: 'master', status: 'active' },
      { bdb_uid: uid, role: 'slave', status: 'active' },
    ])
    await expect(api.createDatabase({ body: asked })).rejects.toMatchObject({
      status: 409,
      code: 'name_already_exists',
    })

    const client = connect({ host: '127.0.0.1', port })
    client.write(`AUTH ${password}\r\n`)
    await once(client, 'data')
    expect(await api.listEndpointClients({ params: { uid }, query: {} })).toMatchObject({
      clients: [{ client: `127.0.0.1:${client.localPort}`, user: 'default' }],
    })
    client.destroy()

    await fairlead.untilEnded((await api.deleteDatabase({ params: { uid } })).action_uid)
    await expect(api.getDatabase({ params: { uid } })).rejects.toMatchObject({ code: 'db_not_exist' })
    const [node] = await api.listNodes({})
    expect(shown.shard_list.filter((shard) => node?.shard_list?.includes(shard))).toEqual([])
  })

  test('has one change at a time, is upgraded to no build that cannot read it, and restarted without a new version', async ({
    fairlead,
  }) => {
    const { api } = fairlead
    const { uid, shard_list } = await createDatabase(fairlead, {
      name: freshName('upgraded'),
      memory_size: 0,
      engine_version: to,
    })
    const upgrade = (body: object) => api.upgradeDatabase({ params: { uid }, body })
    await expect(upgrade({ engine_version: '9.99' })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_version',
    })
    await expect(upgrade({ engine_version: from })).rejects.toMatchObject({
      status: 406,
      code: 'upgrade_path_unsupported',
    })
    const same = await upgrade({ keep_engine_version: true })
    expect(await fairlead.untilEnded(same.action_uid)).toMatchObject({
      outcome: 'completed',
      certificates: [],
    })

    const restart = { force_restart: true, keep_engine_version: true, preserve_roles: true }
    // It stops on its way: otherwise it might be over before the next request comes.
    const { action_uid = '' } = await upgrade({ ...restart, supervised: true })
    await expect(upgrade(restart)).rejects.toMatchObject({ status: 409, code: 'db_busy' })
    await untilAction(fairlead, action_uid, 'it stops', ({ hold_reason }) => hold_reason === 'supervised')
    await api.resumeAction({ params: { uid: action_uid } })
    expect((await fairlead.untilEnded(action_uid)).certificates).toHaveLength(2)
    expect(await api.getDatabase({ params: { uid } })).toMatchObject({ shard_list })
  })
})
