import { join } from 'node:path'
import { nextCommand } from '@fairlead/api'
import { startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { beginUpgrade, untilWindow } from '../../../proof/way-back.ts'

const pair = usualPair()
const serverMain = join(import.meta.dirname, '../../support/crash-main.ts')
const persistence = { data_persistence: 'aof', aof_policy: 'appendfsync-always' } as const

/** A rollback is turned round at most once. */
const MOST_ORDERS = 2

/** Before the role is back, the former build would have to read what the target has saved, and cannot. */
test.for([
  ['hold-endpoint', ['finalize']],
  ['promote', ['finalize']],
  ['switch-endpoint', []],
] as const)(
  'after a power cut before %s of a rollback it ends, by the order that is named if it is stuck, and nothing acknowledged is lost',
  { timeout: 600_000 },
  async ([effect, needed]) => {
    await using fairlead = await startFairlead({ serverMain })
    const { api, server, agent } = fairlead
    const upgrade = await beginUpgrade(fairlead, pair, { rollback_window: 'until_finalized' }, persistence)
    await untilWindow(fairlead, upgrade)
    await server.end('SIGTERM')
    await server.start({ CRASH_WHEN: `before ${effect}`, POWER_CUT: '1' })
    const { authentication_engine_pass: password = '' } = await api.getDatabase({
      params: { uid: upgrade.uid },
    })
    const lookup = { url: `${fairlead.url}/v1/bdbs/${upgrade.uid}`, token: fairlead.token }
    await using load = await startLoad({ kind: 'set', connections: 8, perSecond: 1_000, password, lookup })
    await load.untilAcked(1_000)
    await api.rollbackAction({ params: { uid: upgrade.action } })
    await server.ended
    await agent.start()
    await server.start()

    const orders: string[] = []
    let named = await untilNamed(fairlead, upgrade.action)
    while (named !== 'ended' && orders.length < MOST_ORDERS) {
      orders.push(named)
      await give(fairlead, upgrade.action, named)
      named = await untilNamed(fairlead, upgrade.action)
    }
    expect([named, orders]).toEqual(['ended', needed])
    await load.untilAcked(load.acked() + 50)
    await load.stop()
    expect(await load.readBack()).toMatchObject({ lost: 0 })
  },
)

/** Waits until the action has ended or an order is named. A `retry` only does at once what is done anyway. */
function untilNamed({ api }: Fairlead, uid: string): Promise<string> {
  return until(
    'the rollback has ended, or an order is named',
    async () => {
      const action = await api.getAction({ params: { uid } })
      if (action.phase === 'ended') return 'ended'
      const order = action.phase === 'stuck' ? nextCommand(action, 'it')?.command.split(' ')[2] : undefined
      return order === 'retry' ? undefined : order
    },
    { withinMs: 120_000 },
  )
}

function give({ api }: Fairlead, uid: string, order: string): Promise<unknown> {
  const of = { params: { uid } }
  if (order === 'finalize') return api.finalizeAction(of)
  if (order === 'cancel') return api.cancelAction(of)
  return api.rollbackAction(of)
}
