import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { breakBuild, ownEngines } from '../../../proof/own-engines.ts'
import { asAdmin, rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { smallDisk } from '../../support/small-disk.ts'

const { from, to } = usualPair()

async function createFilled(fairlead: Fairlead): Promise<number> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'kept', memory_size: 0, replication: true, engine_version: from },
  })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  const { shard_list } = await fairlead.api.getDatabase({ params: { uid } })
  using admin = await asAdmin(fairlead, shard_list[0] ?? 0)
  await admin.call('SET', 'kept', 'yes')
  return uid
}

/**
 * Checks that everything is as before: the old version, both old shards, no other process, the data, and
 * ready for the next change.
 */
async function expectUntouched(fairlead: Fairlead, uid: number): Promise<void> {
  const database = await fairlead.api.getDatabase({ params: { uid } })
  expect(database).toMatchObject({ status: 'active', engine: 'redis', shard_list: [1, 2] })
  expect(database.action_uid).toBeUndefined()
  expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
  const [node] = await fairlead.api.listNodes({})
  expect(node?.shard_list).toEqual([1, 2])
  using admin = await asAdmin(fairlead, 1)
  expect(await admin.call('GET', 'kept')).toBe('yes')
}

describe('an upgrade that cannot be done fails with the reason, and leaves the database unchanged', () => {
  test('when the target does not start', async () => {
    using engines = ownEngines([from], to)
    await using fairlead = await startFairlead({ env: { FAIRLEAD_ENGINES: engines.folder } })
    const uid = await createFilled(fairlead)
    breakBuild(engines.folder, to, 'out of luck today')

    const { action_uid } = await fairlead.api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to },
    })
    const action = await fairlead.untilEnded(action_uid)
    expect(action.status).toBe('failed')
    expect(action.error).toContain('out of luck today')
    await expectUntouched(fairlead, uid)
  })

  test('when the file of the build has been removed meanwhile', async () => {
    using engines = ownEngines([from], to)
    await using fairlead = await startFairlead({ env: { FAIRLEAD_ENGINES: engines.folder } })
    const uid = await createFilled(fairlead)
    const lib = join(engines.folder, to, 'exe')
    rmSync(lib, { recursive: true })

    const answer = await fairlead.api
      .upgradeDatabase({ params: { uid }, body: { engine_version: to } })
      .catch((error: Error) => error)
    if (answer instanceof Error) expect(answer.message).toContain('engine_version')
    else expect((await fairlead.untilEnded(answer.action_uid)).status).toBe('failed')
    await expectUntouched(fairlead, uid)
  })

  test.runIf(process.getuid?.() === 0)('when the disk is full', async () => {
    using disk = smallDisk(48)
    await using fairlead = await startFairlead({ parent: disk.folder })
    const uid = await createFilled(fairlead)
    const { action_uid } = await fairlead.api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to },
    })
    const action = await fairlead.untilEnded(action_uid)
    expect(action.status).toBe('failed')
    expect(action.error).toMatch(/ \d+ MB of disk .* \d+ MB /)
    await expectUntouched(fairlead, uid)
  })

  test('when the new shard cannot link', async () => {
    await using fairlead = await startFairlead()
    const uid = await createFilled(fairlead)
    {
      using admin = await asAdmin(fairlead, 1)
      await admin.call('ACL', 'SETUSER', 'fairlead', '-psync', '-sync')
    }
    const { action_uid } = await fairlead.api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to },
    })
    const waiting = await until('the action says what it waits for', async () => {
      const action = await fairlead.api.getAction({ params: { uid: action_uid ?? '' } })
      return action.hold_reason === 'replication' ? action : undefined
    })
    expect(waiting).toMatchObject({
      status: 'active',
      needs_person: false,
      waiting_for: expect.stringContaining('shard 1'),
    })
    const action = await fairlead.untilEnded(action_uid)
    expect(action.status).toBe('failed')
    expect(action.error).toMatch(/shard 3 .* shard 1.* \d+ s /)
    await expectUntouched(fairlead, uid)
  })
})
