import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Load, startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from, to } = usualPair()

/**
 * The power is cut in the middle of an upgrade: engines, proxy, agent and server are killed within a moment.
 * Data that were on a disk before the upgrade began are there when all of them have come back.
 */
const { has } = campaign()

/** An effect, by its name, and which one of that name (default: the first). */
interface Cut {
  readonly before: string
  readonly time?: number
}

/** What a disk promises: each acknowledged write, those of the last snapshot, or none. */
const kinds = [
  {
    persistence: 'aof',
    replication: true,
    // The second append-only file that is switched on is that of a replica which has just saved, and lacks
    // the writes since.
    cuts: [{ before: 'switch-endpoint' }, { before: 'config set', time: 2 }],
  },
  { persistence: 'aof', replication: false, cuts: [{ before: 'record-handover' }] },
  {
    persistence: 'snapshot',
    replication: true,
    cuts: [{ before: 'unpause' }, { before: 'record-leaving' }],
  },
  {
    persistence: 'snapshot',
    replication: false,
    cuts: [{ before: 'bgsave' }, { before: 'unpause' }, { before: 'forget-shard' }],
  },
  { persistence: 'disabled', replication: true, cuts: [{ before: 'promote' }] },
] as const
type Kind = (typeof kinds)[number]

/** An upgrade has fewer. */
const MOST_POINTS = 75
const serverMain = join(import.meta.dirname, '../../support/crash-main.ts')

test.each(kinds)(
  'a power cut in an upgrade loses nothing that was on disk before: $persistence, replication $replication',
  { timeout: 1_800_000 },
  async (kind) => {
    await using fairlead = await startFairlead({ serverMain })
    for (const cut of kind.cuts) expect(await cutAt(fairlead, kind, cut), JSON.stringify(cut)).toBe(true)
  },
)

test.each(kinds)(
  'nor does one before any effect of the upgrade: $persistence, replication $replication',
  { timeout: 1_800_000 },
  async (kind) => {
    await using fairlead = await startFairlead({ serverMain })
    const points = Array.from({ length: MOST_POINTS }, (_, n) => n).filter((n) => has('power-cuts', n))
    for (const point of points) if (!(await cutAt(fairlead, kind, point))) return
    expect.fail(`the upgrade has more than ${MOST_POINTS} effects`)
  },
)

/**
 * One upgrade under load with a power cut at an effect, or at a number of all effects. False when the upgrade
 * ended before the cut.
 */
async function cutAt(fairlead: Fairlead, kind: Kind, cut: Cut | number): Promise<boolean> {
  const { api, server, agent } = fairlead
  const uid = await create(fairlead, kind)
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  await save(fairlead, uid)
  const log = join(fairlead.home, `cut-${uid}`)
  await server.end('SIGTERM')
  const where =
    typeof cut === 'number'
      ? { CRASH_AT: String(cut), CRASH_LOG: log }
      : { CRASH_WHEN: `before ${cut.before}`, CRASH_TIME: String(cut.time ?? 1) }
  await server.start({ ...where, POWER_CUT: '1' })
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  await using load = await startLoad({ kind: 'set', connections: 8, perSecond: 1_000, password, lookup })
  await load.untilAcked(100)
  const dark = server.ended.then(() => true)
  const upgrade = await api
    .upgradeDatabase({ params: { uid }, body: { engine_version: to } })
    .then(({ action_uid }) => action_uid)
    .catch(() => undefined)
  const wasCut = await Promise.race([dark, ended(fairlead, upgrade).then(() => false)])
  if (wasCut) await agent.start()
  await server.end('SIGTERM')
  await server.start()

  const point = existsSync(log) ? readFileSync(log, 'utf8').trim() : ''
  const context = `${kind.persistence}, replication ${kind.replication}, ${JSON.stringify(cut)} ${point}`
  const { action_uid } = await api.getDatabase({ params: { uid } })
  if ((upgrade ?? action_uid) !== undefined) await fairlead.untilEnded(upgrade ?? action_uid)
  await expectKept(fairlead, { uid, kind, load, context })
  await fairlead.untilEnded((await api.deleteDatabase({ params: { uid } })).action_uid)
  return wasCut
}

async function create(fairlead: Fairlead, { persistence, replication }: Kind): Promise<number> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: {
      name: `cut-${persistence}-${Date.now().toString(36)}`,
      memory_size: 0,
      replication,
      engine_version: from,
      data_persistence: persistence,
      ...(persistence === 'aof' && { aof_policy: 'appendfsync-always' as const }),
    },
  })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  return uid
}

const SAVED = 10_000

/** Keys, and a snapshot of them on the primary's disk alone. */
async function save(fairlead: Fairlead, uid: number): Promise<void> {
  using primary = await primaryOf(fairlead, uid)
  await primary.call('EVAL', `for n = 1, ${SAVED} do redis.call('SET', 'saved:' .. n, n) end`, 0)
  await primary.call('BGSAVE')
  await until('the snapshot is written', async () =>
    (await primary.info('persistence')).includes('rdb_bgsave_in_progress:0'),
  )
}

async function primaryOf(fairlead: Fairlead, uid: number) {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  const primary = Number(shards.find(({ role }) => role === 'master')?.uid)
  // On a busy machine it may take longer than one attempt.
  return until('the primary can be asked', () => asAdmin(fairlead, primary).catch(() => null))
}

async function expectKept(
  fairlead: Fairlead,
  about: { readonly uid: number; readonly kind: Kind; readonly load: Load; readonly context: string },
): Promise<void> {
  const { uid, kind, load, context } = about
  await load.untilAcked(load.acked() + 50)
  const report = await load.stop()
  expect(report, context).toBeDefined()
  using primary = await primaryOf(fairlead, uid)
  const saved = await primary.call('EVAL', COUNT_SAVED, 0)
  if (kind.persistence !== 'disabled') expect(saved, context).toBe(SAVED)
  if (kind.persistence === 'aof') expect(await load.readBack(), context).toMatchObject({ lost: 0 })
}

const COUNT_SAVED = `local held = 0
  for n = 1, ${SAVED} do held = held + redis.call('EXISTS', 'saved:' .. n) end
  return held`

async function ended(fairlead: Fairlead, actionUid: string | undefined): Promise<void> {
  if (actionUid === undefined) await new Promise(() => undefined)
  await fairlead.untilEnded(actionUid).catch(() => new Promise(() => undefined))
}
