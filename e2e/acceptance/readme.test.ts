import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { packTally } from '../../proof/modules/add-module.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import { blocksOf, readPage, run, walk } from '../support/walk.ts'

const API_PAGE = 'docs/start/api.md'

test('the demo proves what the README says about it, as one JSON object', async () => {
  const { code, stdout, stderr } = await run(process.execPath, ['tools/run.mjs', 'demo', '--json'])
  expect(code, stderr).toBe(0)
  const [, sample = ''] = /```json\n(.*)\n```/.exec(readPage('README.md')) ?? []
  expect(shapeOf(JSON.parse(stdout))).toEqual(shapeOf(JSON.parse(sample)))
  // Of the builds that the set-up brings.
  expect(JSON.parse(sample)).toMatchObject({
    from: expect.stringMatching(/^redis 7\.0\./),
    to: expect.stringMatching(/^valkey 8\.1\./),
  })
  const { from, to, acked, write_stop_ms, client_gap_ms, seconds, ...nothing } = JSON.parse(stdout)
  expect(nothing).toEqual({ lost: 0, duplicated: 0, errors: 0, reconnects: 0, full_syncs: 0 })
  expect([from, to]).toEqual([expect.stringMatching(/^redis 7\.0\./), expect.stringMatching(/^valkey \d/)])
  expect(acked).toBeGreaterThan(100_000)
  const span = { median: expect.any(Number), max: expect.any(Number) }
  expect([write_stop_ms, client_gap_ms, seconds]).toEqual([span, span, expect.any(Number)])
})

/** The fields of a value, in their order, with the kinds of theirs. */
function shapeOf(value: object): readonly unknown[] {
  return Object.entries(value).map(([name, of]) => [name, typeof of === 'object' ? shapeOf(of) : typeof of])
}

describe('the commands work as they are printed', () => {
  let fairlead: Fairlead
  beforeAll(async () => {
    fairlead = await startFairlead()
  })
  beforeEach(async () => {
    for (const { uid } of await fairlead.api.listDatabases({}))
      await fairlead.untilEnded((await fairlead.api.deleteDatabase({ params: { uid } })).action_uid)
  })
  afterAll(() => fairlead[Symbol.asyncDispose]())

  /** The only database, and the last action on it. */
  async function only() {
    const [{ uid } = { uid: 0 }, ...others] = await fairlead.api.listDatabases({})
    expect(others).toEqual([])
    const actions = await fairlead.api.listDatabaseActions({ params: { uid }, query: { limit: 1 } })
    return { database: await fairlead.api.getDatabase({ params: { uid } }), action: actions[0] }
  }

  test('docs/operate/backup.md: the drill restores every key, and leaves nothing', async () => {
    const { api } = fairlead
    const { uid } = await createDatabase(fairlead, { name: 'orders', memory_size: 0, replication: false })
    await api.giveCommand({ params: { uid }, body: { command: 'MSET a 1 b 2 c 3' } })
    const [printed = ''] = await walk(fairlead, blocksOf(fairlead, 'docs/operate/backup.md'))
    expect(printed).toMatch(/\b3 keys\b/)
    expect(await api.listBackups({})).toEqual([])
    expect((await only()).database).toMatchObject({ name: 'orders' })
  })

  test('README.md: five commands create a database, upgrade it and roll it back', async () => {
    const [commands = ''] = blocksOf(fairlead, 'README.md', 'bash')
    // No person can be asked here.
    const answered = commands.replaceAll(/( databases upgrade .*| actions rollback .*)$/gm, '$1 --yes')
    await walk(fairlead, [answered])
    expect(await only()).toMatchObject({
      database: { name: 'carts', engine: 'redis', replication: true },
      action: { outcome: 'rolled_back', certificates: [{}, {}] },
    })
  })

  test('docs/start/api.md: the same over the API, and the client of the engine connects', async () => {
    await walk(fairlead, blocksOf(fairlead, API_PAGE))
    const { action, database } = await only()
    expect(await fairlead.untilEnded(action?.action_uid)).toMatchObject({ outcome: 'completed' })
    const [line = ''] = /^\.fairlead\/engines.*valkey-cli .*$/m.exec(readPage(API_PAGE)) ?? []
    const client = line
      .replace('.fairlead/engines', enginesFolder())
      .replace('PORT', String(database.endpoints[0]?.port))
      .replace('PASSWORD', database.authentication_engine_pass ?? '')
    expect(await walk(fairlead, [`${client} PING`])).toEqual(['PONG\n'])
  })

  test('docs/operate/follow-an-upgrade-live.md: each event comes once, also to a client that comes back', async () => {
    const page = 'docs/operate/follow-an-upgrade-live.md'
    const [whole = '', resumed = ''] = await walk(fairlead, blocksOf(fairlead, page))
    const ids = (events: string) => [...events.matchAll(/\bid: (\d+)$/gm)].map(([, id]) => Number(id))
    expect(ids(whole).length).toBeGreaterThan(5)
    expect(ids(whole)).toEqual([...new Set(ids(whole))].toSorted((a, b) => a - b))
    expect(ids(resumed)).toEqual(ids(whole).slice(1))
    expect(whole).toMatch(/"status":"completed".*\n\nevent: end\ndata: \{\}\n\n$/)
  })

  test('docs/operate/upgrades.md: a dry run, a supervised upgrade, its way back', async () => {
    const printed = await walk(fairlead, blocksOf(fairlead, 'docs/operate/upgrades.md'))
    const [planned = '', open = '', back = '', , full = ''] = printed
    expect(planned).toMatch(/"plan":\{"engine":"valkey".*"handovers":1.*"trial":\{"ok":true/)
    expect(open).toMatch(/"rollback_eligible":true/)
    expect(back).toMatch(/"role":"master".*"engine":"redis"\n$/)
    expect(full).toMatch(/"error_code":"memory_size_too_small"/)
    expect(await only()).toMatchObject({ database: { memory_size: 120_000_000 } })
  })

  test('docs/operate/modules.md: a module is uploaded, used and upgraded', async () => {
    for (const version of ['1.0.0', '2.0.0'] as const)
      await packTally(version, join(fairlead.home, `tally-${version}.zip`))
    await walk(fairlead, blocksOf(fairlead, 'docs/operate/modules.md'))
    expect((await only()).database.module_list).toMatchObject([
      { module_name: 'tally', semantic_version: '2.0.0', module_args: 'STEP 2' },
    ])
  })

  // The last one, because it makes all tokens invalid.
  test('docs/operate/users.md: a user with a role of its own, two passwords at once, new keys, the audit', async () => {
    await walk(fairlead, blocksOf(fairlead, 'docs/operate/users.md'))
    const users = await fairlead.api.listUsers({ query: {} }).catch((error: unknown) => error)
    expect(users).toMatchObject({ code: 'unauthorized' })
  })
})
