import { startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'

const replication = campaign().is('many-replicated-groups')
const groups = campaign().times(replication ? 'many-replicated-groups' : 'many-groups', 8)
const perSecond = groups > 16 ? 3_000 : 1_000
const WITHIN_MS = groups > 16 ? 900_000 : 60_000
// The hundred ports of a test are too few for many groups.
const ports = groups > 16 ? { FAIRLEAD_PORT_RANGE: '5000-5499' } : {}

test(`${groups} groups are created, and upgraded while clients write through the endpoint`, {
  timeout: 2 * WITHIN_MS,
}, async () => {
  await using fairlead = await startFairlead({ env: ports })
  const { api } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: {
      name: 'many',
      memory_size: 0,
      replication,
      shards_count: groups,
      engine_version: build('valkey', '8.0'),
    },
  })
  const created = await fairlead.untilEnded(action_uid, WITHIN_MS)
  expect(created.status, created.error).toBe('completed')
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  await using load = await startLoad({ kind: 'incr', password, connections: 8, perSecond, lookup })
  await load.untilAcked(perSecond)

  const { action_uid: upgrade } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: build('valkey', '8.1') },
  })
  const action = await fairlead.untilEnded(upgrade, WITHIN_MS)
  await load.untilAcked(load.acked() + 500)
  const { errors, reconnects } = await load.stop()
  const { lost, duplicated, examples } = await load.readBack()
  expect(action.status, action.error).toBe('completed')
  expect(action.certificates).toHaveLength(groups)
  expect({ errors, reconnects, lost, duplicated, examples }).toEqual({
    errors: {},
    reconnects: 0,
    lost: 0,
    duplicated: 0,
    examples: [],
  })
})
