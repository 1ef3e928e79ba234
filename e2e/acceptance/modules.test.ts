import { connectEngine } from '@fairlead/engine'
import { expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { addTally } from '../../proof/modules/add-module.ts'
import { test } from '../support/shared-fairlead.ts'

const { to } = usualPair()

test('a module is upgraded with one handover: another version, the same arguments, the same data', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const [current_module, new_module] = [await addTally(fairlead, '1.0.0'), await addTally(fairlead, '2.0.0')]
  const { uid, port, password } = await createDatabase(fairlead, {
    name: freshName('sums'),
    memory_size: 0,
    engine_version: to,
    module_list: [{ module_id: current_module, module_args: 'STEP 2' }],
  })
  using client = await connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'default', password },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
  expect(await client.call('TALLY.ADD', 'k')).toBe(2)

  const modules = [{ current_module, new_module }]
  const { action_uid = '' } = await api.upgradeModules({ params: { uid }, body: { modules } })
  expect(await api.getAction({ params: { uid: action_uid } })).toMatchObject({
    outcome: 'completed',
    certificates: [{ full_syncs: 0 }],
  })
  expect(await client.call('TALLY.ADD', 'k')).toBe(4)
  expect(await client.call('TALLY.NAME', 'k', 'only 2.0 has this command')).toBe('OK')
  expect(await api.getDatabase({ params: { uid } })).toMatchObject({
    status: 'active',
    module_list: [{ module_id: new_module, semantic_version: '2.0.0', module_args: 'STEP 2' }],
  })
})
