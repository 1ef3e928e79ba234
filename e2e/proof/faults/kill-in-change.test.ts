import { join } from 'node:path'
import type { Body, updateDatabase } from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import type { Kill } from '../../support/arm-kill.ts'
import { actWithKill, type Loaded, startLoaded } from '../../support/killed-upgrade.ts'

let fairlead: Fairlead
let loaded: Loaded
beforeAll(async () => {
  fairlead = await startFairlead({ serverMain: join(import.meta.dirname, '../../support/crash-main.ts') })
  loaded = await startLoaded(fairlead)
})
afterAll(async () => {
  await loaded?.[Symbol.asyncDispose]()
  await fairlead?.[Symbol.asyncDispose]()
})

type Change = Body<typeof updateDatabase>
const alone: Change = { replication: false }
const replicated: Change = { replication: true }
const aof: Change = { data_persistence: 'aof' }

/** In this order: each change begins where the one before has led. */
const cases: readonly (readonly [Kill['victim'], string, Change])[] = [
  ['server', 'before record-leaving', alone],
  ['server', 'before record-shard', replicated],
  ['server', 'after record-leaving', alone],
  ['server', 'after record-shard', replicated],
  ['agent', 'before remove-shard', alone],
  ['agent', 'after put-shard', replicated],
  ['server', 'after remove-shard', alone],
  ['server', 'after put-shard', replicated],
  ['server', 'before forget-shard', alone],
  ['agent', 'after record-shard', replicated],
  ['server', 'before put-saving', aof],
  ['server', 'after put-saving', { data_persistence: 'snapshot' }],
  ['agent', 'before put-saving', aof],
  ['agent', 'after put-saving', { data_persistence: 'disabled' }],
  ['agent', 'after put-saving', aof],
  ['server', 'before finish', { ...alone, data_persistence: 'snapshot' }],
]

describe('a change of a database under load is carried out, though', () => {
  test.each(cases)('the %s is killed %s: %j', async (victim, when, body) => {
    const { api } = fairlead
    const params = { uid: loaded.uid }
    const ask = () => api.updateDatabase({ params, query: {}, body })
    const action = await actWithKill(loaded, { kill: { victim, when }, ask })
    expect(action).toMatchObject({ name: 'SMUpdateBDB', status: 'completed', warnings: [] })
    const after = await api.getDatabase({ params })
    expect(after).toMatchObject({ ...body, status: 'active' })
    await until('it has the shards that it is to have', async () => {
      const { shard_list, replication } = await api.getDatabase({ params })
      return shard_list.length === (replication ? 2 : 1)
    })
  })

  test('no client noticed, and no write was lost or executed twice', async () => {
    const { errors, reconnects } = await loaded.load.stop()
    expect({ errors, reconnects }).toEqual({ errors: {}, reconnects: 0 })
    expect(await loaded.load.readBack()).toMatchObject({ lost: 0, duplicated: 0, examples: [] })
  })
})
