import { startLoad } from '@fairlead/ledger'
import { describe, expect, test } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { rolesOf } from '../../proof/roles.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { pidsOf } from '../support/pids-of.ts'

describe('databases keep running without the control plane', () => {
  test('no client notices that agent and server are killed, and the next ones take the same processes over', async () => {
    await using fairlead = await startFairlead()
    const { uid, password } = await createDatabase(fairlead, { name: 'lasting', memory_size: 0 })
    const before = pidsOf(fairlead.home)
    expect(before).toHaveLength(3)
    await using load = await startLoad({
      kind: 'set',
      connections: 10,
      perSecond: 2_000,
      password,
      lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
    })
    await load.untilAcked(500)
    await Promise.all([fairlead.agent.end('SIGKILL'), fairlead.server.end('SIGKILL')])
    await load.untilAcked(load.acked() + 1_000)
    await fairlead.agent.start()
    await fairlead.server.start()
    await load.untilAcked(load.acked() + 1_000)

    const report = await load.stop()
    expect({ refused: report.refused, unknown: report.unknown, reconnects: report.reconnects }).toEqual({
      refused: 0,
      unknown: 0,
      reconnects: 0,
    })
    expect(pidsOf(fairlead.home)).toEqual(before)
    expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
    // Taken over means that the database can be changed again.
    const upgrade = await fairlead.api.upgradeDatabase({ params: { uid }, body: { force_restart: true } })
    expect((await fairlead.untilEnded(upgrade.action_uid)).status).toBe('completed')
  })
})
