import { expect } from 'vitest'
import { usualPair } from '../../proof/engine-pairs.ts'
import { asAdmin } from '../../proof/roles.ts'
import { commandLine } from '../../proof/run-command-line.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { beginUpgrade, untilWindow } from '../../proof/way-back.ts'
import { test } from '../support/shared-fairlead.ts'

const pair = usualPair()
const [before, after] = [pair.from, pair.to].map((build) => build.replace('-', ' '))

// invariant: A database is named by the engine that its clients have.
test('before an upgrade, in its window, rolled back and finalized: API, command line and metrics name the engine that INFO of the primaries names', async ({
  fairlead,
}) => {
  const { api, untilEnded } = fairlead
  const upgrade = await beginUpgrade(fairlead, pair, { supervised: true })
  const expectNamed = async (build: string | undefined, onRecord: string | undefined) => {
    const { info, ...doors } = await namesOf(fairlead, upgrade.uid)
    expect(info).toEqual([build])
    expect(doors).toEqual({
      api: build,
      serving: [build],
      onRecord,
      list: build,
      commandLine: build,
      metrics: build,
    })
  }
  await expectNamed(before, before)
  await api.cancelAction({ params: { uid: upgrade.action } })
  expect(await untilEnded(upgrade.action)).toMatchObject({ status: 'failed' })
  await expectNamed(before, before)

  const again = async () => {
    const body = { engine_version: pair.to, rollback_window: 'until_finalized' } as const
    const { action_uid: action = '' } = await api.upgradeDatabase({ params: { uid: upgrade.uid }, body })
    await untilWindow(fairlead, { uid: upgrade.uid, action })
    await expectNamed(after, before)
    return action
  }
  const back = await again()
  expect(await api.getDatabase({ params: { uid: upgrade.uid } })).toMatchObject({
    status: 'active-change-pending',
    rollback_window: 'until_finalized',
  })
  expect((await infoOf(fairlead, upgrade.uid)).status).toBe('window')
  // A dry run begins where clients are now, not at the record.
  const dryRun = { params: { uid: upgrade.uid }, query: { dry_run: '' as const } }
  const { plan } = await api.upgradeDatabase({ ...dryRun, body: { engine_version: pair.to } })
  expect(plan).toMatchObject({ change: false, possible: true })
  const restart = await api.upgradeDatabase({ ...dryRun, body: { force_restart: true } })
  expect(restart.plan).toMatchObject({ possible: false, obstacles: [{ error_code: 'db_busy' }] })
  await api.rollbackAction({ params: { uid: back } })
  await untilEnded(back)
  await expectNamed(before, before)

  const forGood = await again()
  await api.finalizeAction({ params: { uid: forGood } })
  await untilEnded(forGood)
  await expectNamed(after, after)
})

/** The build of a database as each door names it, and as its primaries report it. */
async function namesOf(fairlead: Fairlead, uid: number) {
  const { api, home } = fairlead
  const database = await api.getDatabase({ params: { uid } })
  const listed = (
    await api.listDatabases({ query: { engine_version: nameOf(database).replace(' ', '-') } })
  ).find((one) => one.uid === uid)
  const { run } = commandLine({ FAIRLEAD_HOME: home })
  const shown = await run(['db', 'show', database.name, '--columns', 'engine'])
  return {
    info: await reportedBuilds(fairlead, uid),
    api: nameOf(database),
    serving: database.serving.map(nameOf),
    onRecord: nameOf(database.on_record),
    list: listed && nameOf(listed),
    commandLine: shown.stdout.trim(),
    metrics: (await infoOf(fairlead, uid)).build,
  }
}

/** The engine and the status of a database in the metrics. */
async function infoOf({ url, token }: Fairlead, uid: number) {
  const scrape = await fetch(new URL('/metrics', url), { headers: { authorization: `Bearer ${token}` } })
  const labels = 'engine="(.*?)",version="(.*?)",status="(.*?)"'
  const info = new RegExp(`^fairlead_database_info\\{database="${uid}",.*${labels}`, 'm')
  const [, engine, version, status] = info.exec(await scrape.text()) ?? []
  return { build: `${engine} ${version}`, status }
}

const nameOf = (build: { readonly engine: string; readonly engine_version: string }) =>
  `${build.engine} ${build.engine_version}`

async function reportedBuilds(fairlead: Fairlead, uid: number): Promise<readonly string[]> {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  return Promise.all(
    shards
      .filter(({ role }) => role === 'master')
      .map(async (shard) => {
        using admin = await asAdmin(fairlead, Number(shard.uid))
        const info = await admin.info('server')
        const [, version] = /^valkey_version:(.*?)\r?$/m.exec(info) ?? []
        return version === undefined
          ? `redis ${/^redis_version:(.*?)\r?$/m.exec(info)?.[1]}`
          : `valkey ${version}`
      }),
  )
}
