import { setTimeout as pause } from 'node:timers/promises'
import { type Load, startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

const { from, to } = usualPair()

const COUNT = campaign().times('agent-stalls', 3)
/** Longer than tunnels survive. */
const STOPPED_MS = 2_200
const BETWEEN_MS = 700
const MOST_TIMES = COUNT > 3 ? 8 : 2

test(`an agent that stalls repeatedly while ${COUNT} databases are upgraded costs no write, and no primary is replaced`, {
  timeout: 120_000 + COUNT * 20_000,
}, async () => {
  await using fairlead = await startFairlead()
  const { api, agent, untilEnded } = fairlead
  const withinMs = 60_000 + COUNT * 10_000
  const created = await Promise.all(
    Array.from({ length: COUNT }, (_, n) =>
      api.createDatabase({
        body: { name: `still-${n}`, memory_size: 0, replication: true, engine_version: from },
      }),
    ),
  )
  for (const { action_uid } of created) await untilEnded(action_uid, withinMs)
  await using load = await loadOn(fairlead, created[0]?.uid ?? 0)
  const upgrades = await Promise.all(
    created.map(({ uid }) => api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })),
  )
  let areEnded = false
  const standing = (async () => {
    let times = 0
    for (; !areEnded && times < MOST_TIMES; times += 1) {
      process.kill(agent.pid, 'SIGSTOP')
      await pause(STOPPED_MS)
      process.kill(agent.pid, 'SIGCONT')
      await pause(BETWEEN_MS)
    }
    return times
  })()
  try {
    for (const { action_uid } of upgrades) {
      const { status, error, warnings } = await untilEnded(action_uid, withinMs)
      expect({ status, error, warnings }).toMatchObject({ status: 'completed', warnings: [] })
    }
  } finally {
    areEnded = true
    await standing
  }
  expect(await standing).toBeGreaterThan(0)
  const logs = await api.listLogs({ query: { order: 'desc', limit: 1_000 } })
  expect(logs.filter(({ type }) => /replaced|lost/.test(type))).toEqual([])
  await load.untilAcked(load.acked() + 100)
  const { errors, reconnects } = await load.stop()
  const { lost, duplicated } = await load.readBack()
  expect({ lost, duplicated, errors, reconnects }).toEqual({
    lost: 0,
    duplicated: 0,
    errors: {},
    reconnects: 0,
  })
})

async function loadOn({ api, url, token }: Fairlead, uid: number): Promise<Load> {
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${url}/v1/bdbs/${uid}`, token }
  const pace = { connections: 4, perSecond: 500, replyWithinMs: 60_000 }
  const load = await startLoad({ kind: 'incr', ...pace, password, lookup })
  await load.untilAcked(100)
  return load
}
