import { expect, test } from 'vitest'
import { startFairlead } from '../proof/start-fairlead.ts'
import { libraries } from './clients/clients.ts'
import { startWork } from './clients/work.ts'
import { build } from './engine-pairs.ts'
import { until } from './until.ts'
import { untilAction } from './way-back.ts'

const from = build('redis', '7.0')
const to = build('valkey', '8.1')

for (const [name, library] of Object.entries(libraries)) {
  test(`${name} notices neither an upgrade, nor its rollback, nor roles that are preserved`, {
    timeout: 120_000,
  }, async () => {
    await using fairlead = await startFairlead()
    const { api } = fairlead
    const created = await api.createDatabase({
      body: { name: 'unnoticed', memory_size: 0, replication: true, engine_version: from },
    })
    await fairlead.untilEnded(created.action_uid)
    const {
      uid,
      port,
      authentication_engine_pass: password = '',
    } = await api.getDatabase({
      params: { uid: created.uid },
    })
    const work = await startWork(library, { host: '127.0.0.1', port, password })
    const more = (count: number) => {
      const goal = work.answers() + count
      return until(`${name} goes on`, async () => work.answers() > goal, { withinMs: 30_000 })
    }
    await more(1_000)

    const first = await api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, rollback_window: 'until_finalized' },
    })
    const action = first.action_uid ?? ''
    await untilAction(fairlead, action, 'it can be rolled back', ({ needs_person, rollback_eligible }) => {
      return needs_person && rollback_eligible === true
    })
    await more(1_000)
    await api.rollbackAction({ params: { uid: action } })
    expect(await fairlead.untilEnded(action)).toMatchObject({ error: expect.stringMatching(/rolled back/) })
    await more(1_000)

    const second = await api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, preserve_roles: true },
    })
    const { status, certificates } = await fairlead.untilEnded(second.action_uid)
    expect(status).toBe('completed')
    expect(certificates.length).toBe(2)
    await more(1_000)

    const { longestStallMs, ...found } = await work.stop()
    expect(found).toEqual({ wrong: [], reconnects: 0 })
    // Milliseconds on a machine of its own (bench/endpoint); here others work, too.
    expect(longestStallMs).toBeLessThan(2_000)
    expect((await api.getDatabase({ params: { uid } })).port).toBe(port)
  })
}
