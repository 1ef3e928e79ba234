import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from, to } = usualPair()

/** More points than an upgrade has (about 25). */
const MOST_POINTS = 75
const chosen = Array.from({ length: MOST_POINTS }, (_, point) => point).filter((point) =>
  campaign().has('crashes', point),
)
/** Most of the time is waiting. */
const SIDE_BY_SIDE = 2

// invariant: An upgrade continues after an interruption between any two of its effects.
test('a server killed between any two effects of an upgrade loses nothing, and the next one finishes it', {
  timeout: 900_000,
}, async () => {
  const logs = await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, (_, nth) =>
      crashAtEach(chosen.filter((_, n) => n % SIDE_BY_SIDE === nth)),
    ),
  )
  const points = logs.join('')
  // Upgrades differ by a point or two, so that each half may pass over the same one.
  const missed = effects.filter((effect) => !points.includes(`before ${effect}`))
  if (missed.length === 0) return
  const halves = [missed.filter((_, index) => index % 2 === 0), missed.filter((_, index) => index % 2 === 1)]
  await Promise.all(halves.map(crashBefore))
})

/** Those at which each run has crashed. */
const effects = ['pause', 'demote', 'promote', 'record-handover', 'unpause', 'put-shard']
const serverMain = join(import.meta.dirname, '../../support/crash-main.ts')

/** Tries the point before each of `chosen`, in a Fairlead of its own. */
async function crashBefore(chosen: readonly string[]): Promise<void> {
  await using fairlead = await startFairlead({ serverMain })
  for (const effect of chosen)
    expect(await crashAt(fairlead, `missed-${effect}`, { CRASH_WHEN: `before ${effect}` })).toBe(true)
}

/** Tries the points until an upgrade has fewer. Returns those reached, a line each. */
async function crashAtEach(tried: readonly number[]): Promise<string> {
  await using fairlead = await startFairlead({ serverMain })
  const log = join(fairlead.home, 'crash-points')
  for (const point of tried)
    if (!(await crashAt(fairlead, String(point), { CRASH_AT: String(point), CRASH_LOG: log })))
      return readFileSync(log, 'utf8')
  return expect.fail(`an upgrade has more than ${MOST_POINTS} effects`)
}

/** One upgrade under load whose server dies at `point`. False when the upgrade ended before that point. */
async function crashAt(
  fairlead: Fairlead,
  point: string,
  crash: Readonly<Record<string, string>>,
): Promise<boolean> {
  const { api, server } = fairlead
  const created = await api.createDatabase({
    body: {
      name: `crash-${point}`,
      memory_size: 0,
      replication: true,
      engine_version: from,
    },
  })
  await fairlead.untilEnded(created.action_uid)
  const { uid, authentication_engine_pass: password = '' } = await api.getDatabase({
    params: { uid: created.uid },
  })

  await server.end('SIGTERM')
  await server.start(crash)
  await using load = await startLoad({
    kind: 'incr',
    connections: 8,
    perSecond: 2_000,
    password,
    lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
  })
  await load.untilAcked(100)
  const crashed = server.ended.then(() => true)
  // The point may be reached before the answer was sent: the upgrade is on record then, too.
  const upgrade = await api
    .upgradeDatabase({ params: { uid }, body: { engine_version: to } })
    .then(({ action_uid }) => action_uid)
    .catch(() => undefined)
  const died = await Promise.race([crashed, ended(fairlead, upgrade).then(() => false)])
  await server.end('SIGTERM')
  await server.start()

  const after = await api.getDatabase({ params: { uid } })
  const action = await fairlead.untilEnded(upgrade ?? after.action_uid)
  await load.untilAcked(load.acked() + 100)
  await load.stop()
  const verdict = await load.readBack()
  const context = `at point ${point}: ${died ? reachedIn(crash) : 'no crash'}`
  expect({ lost: verdict.lost, duplicated: verdict.duplicated }, context).toEqual({ lost: 0, duplicated: 0 })
  expect(action.status, `${context}: ${action.error ?? ''}`).toBe('completed')
  expect(
    action.certificates.map(({ full_syncs }) => full_syncs),
    context,
  ).toEqual([0])
  // If the machine has other work, an engine may be late with one answer.
  const roles = await until(`each shard answers ${context}`, async () => {
    const found = await rolesOf(fairlead, uid)
    return found.includes('silent') ? undefined : found
  })
  expect(roles, context).toEqual(['primary', 'replica'])
  await fairlead.untilEnded((await api.deleteDatabase({ params: { uid } })).action_uid)
  return died
}

async function ended(fairlead: Fairlead, actionUid: string | undefined): Promise<void> {
  if (actionUid === undefined) await new Promise(() => undefined)
  await fairlead.untilEnded(actionUid).catch(() => new Promise(() => undefined))
}

/** The point at which it has crashed. */
function reachedIn({ CRASH_WHEN, CRASH_LOG = '' }: Readonly<Record<string, string>>): string | undefined {
  return CRASH_WHEN ?? readFileSync(CRASH_LOG, 'utf8').trim().split('\n').at(-1)
}
