import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pastKills } from '../../proof/past-seeds.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import type { Kill } from '../support/arm-kill.ts'
import { type Loaded, startLoaded, upgradeWithKill } from '../support/killed-upgrade.ts'
import { killAndJudge, roundsOf } from '../support/random-kills.ts'

/** Here at a few points of the handover; in e2e/proof/faults at all of them. */
let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead({ serverMain: join(import.meta.dirname, '../support/crash-main.ts') })
})
afterAll(() => fairlead[Symbol.asyncDispose]())

/** While there is a primary, clients need neither server nor agent. */
const withoutIt = 1_000
const plain: readonly (Kill & { readonly whileAway: number })[] = [
  { victim: 'server', when: 'after hold-endpoint', whileAway: withoutIt },
  { victim: 'server', when: 'before promote', whileAway: 0 },
  { victim: 'server', when: 'before record-handover', whileAway: withoutIt },
  { victim: 'agent', when: 'after hold-endpoint', whileAway: withoutIt },
  { victim: 'agent', when: 'after demote', whileAway: 0 },
]
const sharded: typeof plain = [
  { victim: 'server', when: 'before promote', whileAway: 0 },
  { victim: 'agent', when: 'before promote', whileAway: 0 },
]

describe.each([
  { what: 'a database', shape: {}, kills: plain },
  { what: 'a sharded database', shape: { groups: 3 }, kills: sharded },
])('an upgrade of $what under load is finished, and no client notices, though', ({ shape, kills }) => {
  let loaded: Loaded
  beforeAll(async () => {
    loaded = await startLoaded(fairlead, shape)
  })
  afterAll(() => loaded[Symbol.asyncDispose]())

  // invariant: An engine, agent or server that dies in a handover blocks no client.
  test.each(kills)('the $victim is killed $when', async ({ victim, when, whileAway }) => {
    const action = await upgradeWithKill(loaded, { victim, when }, whileAway)
    expect(action).toMatchObject({ status: 'completed', warnings: [] })
    expect(action.certificates.map(({ full_syncs }) => full_syncs)).toEqual(Array(loaded.groups).fill(0))
  })

  test('and no write was refused, lost or executed twice', async () => {
    const { errors, reconnects, refused, unknown } = await loaded.load.stop()
    expect({ errors, reconnects, refused, unknown }).toEqual({
      errors: {},
      reconnects: 0,
      refused: 0,
      unknown: 0,
    })
    expect(await loaded.load.readBack()).toMatchObject({ lost: 0, duplicated: 0, examples: [] })
  })
})

describe('an upgrade under load is finished, and clients connect again, though', () => {
  let loaded: Loaded
  beforeAll(async () => {
    loaded = await startLoaded(fairlead)
  })
  afterAll(() => loaded[Symbol.asyncDispose]())

  for (const when of ['after hold-endpoint', 'after promote'])
    test(`the endpoint is killed ${when}`, async () => {
      expect(await upgradeWithKill(loaded, { victim: 'proxy', when })).toMatchObject({ status: 'completed' })
    })

  test('the old primary is killed after demote', async () => {
    const shards = await fairlead.api.listDatabaseShards({ params: { uid: loaded.uid } })
    const primary = shards.find(({ role }) => role === 'master')
    const action = await upgradeWithKill(loaded, { victim: `s${Number(primary?.uid)}`, when: 'after demote' })
    expect(action).toMatchObject({ status: 'completed' })
  })

  test('and no acknowledged write was lost or executed twice', async () => {
    await loaded.load.stop()
    expect(await loaded.load.readBack()).toMatchObject({ lost: 0, duplicated: 0, examples: [] })
  })
})

test.each(pastKills)('round $round of seed $seed, which once found a fault, finds none', async (past) => {
  const next = roundsOf(past.seed)
  for (let n = 0; n < past.round; n += 1) next()
  await killAndJudge(fairlead, next(), JSON.stringify(past))
})
