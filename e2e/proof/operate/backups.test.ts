import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { armKill } from '../../support/arm-kill.ts'
import { smallDisk } from '../../support/small-disk.ts'

test('an agent that is killed while it makes a backup leaves nothing of it, and the next one says so', async () => {
  await using fairlead = await startFairlead()
  const { api, agent, home } = fairlead
  const database = await createDatabase(fairlead, { name: 'orders', memory_size: 0, replication: false })
  const params = { uid: database.uid }
  await fillMuch(fairlead, database.uid)
  const { name } = await api.backUpDatabase({ params })
  // In the middle: some of it is on the disk.
  await until('a part is there', async () => (await api.getBackup({ params: { name } })).bytes > 0)
  await agent.end('SIGKILL')
  expect(await readdir(join(home, 'backups'))).toEqual([`.part-${name}`])
  await agent.start()
  const made = await api.listBackups({})
  expect(made).toMatchObject([{ name, status: 'failed', keys: null, proved_time: null, files: [] }])
  expect(await readdir(join(home, 'backups'))).toEqual([`.failed-${name}`])
  expect(await readdir(join(home, 'trials', 'shards'))).toEqual([])
  const next = await api.backUpDatabase({ params })
  await until('it is done', async () => (await api.getBackup({ params: next })).status === 'done')
  expect(await api.listBackups({})).toMatchObject([{ name: next.name, keys: MUCH }])
})

test('a backup for which the disk has no room is refused, and the database serves on', async () => {
  using disk = smallDisk(400)
  await using fairlead = await startFairlead({ parent: disk.folder })
  const { api } = fairlead
  const { uid } = await createDatabase(fairlead, { name: 'orders', memory_size: 0, replication: false })
  const params = { uid }
  await fillMuch(fairlead, uid)
  {
    using _ = disk.fill(2 * MUCH * MIB)
    await expect(api.backUpDatabase({ params })).rejects.toMatchObject({ code: 'insufficient_resources' })
    expect(await api.listBackups({})).toEqual([])
    const set = { params, body: { command: 'SET k v' } }
    expect(await api.giveCommand(set)).toEqual({ response: 'OK' })
  }
  const { name } = await api.backUpDatabase({ params })
  await until('it is done', async () => (await api.getBackup({ params: { name } })).status === 'done')
})

// With these the order to begin a shard comes a second time, or to another agent.
test('a process that is killed in the middle of a restore changes nothing about its end', async () => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
  })
  const { api, home } = fairlead
  const { uid } = await createDatabase(fairlead, { name: 'orders', memory_size: 0, replication: false })
  await fillMuch(fairlead, uid)
  const { name } = await api.backUpDatabase({ params: { uid } })
  await until('it is done', async () => (await api.getBackup({ params: { name } })).status === 'done')
  for (const [n, [victim, when]] of kills.entries()) {
    armKill(home, { victim, when })
    const body = { name: `copy-${n}`, memory_size: 0, from_backup: name }
    const created = await api.createDatabase({ body })
    await fairlead[victim].ended
    await fairlead[victim].start()
    const { status, error } = await fairlead.untilEnded(created.action_uid)
    expect([when, status, error]).toEqual([when, 'completed', error])
    const count = { params: { uid: created.uid }, body: { command: 'DBSIZE' } }
    expect(await api.giveCommand(count)).toEqual({ response: MUCH })
  }
})

const kills = [
  ['server', 'after record-shard'],
  ['server', 'after put-shard'],
  ['agent', 'after put-shard'],
  ['server', 'before record-primary'],
] as const

const MIB = 1024 * 1024
const MUCH = 60

/** So much that a backup takes a moment, and does not compress. */
async function fillMuch(fairlead: Fairlead, uid: number): Promise<void> {
  const [shard] = await fairlead.api.listDatabaseShards({ params: { uid } })
  using engine = await asAdmin(fairlead, Number(shard?.uid))
  for (let n = 0; n < MUCH; n += 1) await engine.call('SET', `k${n}`, randomBytes(MIB))
}
