import { ApiError } from '@fairlead/api'
import { beforeAll, expect, test } from 'vitest'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
  return () => fairlead[Symbol.asyncDispose]()
})

test('a build through which clients can take over an engine is used only for databases that run it already, and when the cluster allows it', async ({
  skip,
}) => {
  const { api } = fairlead
  const builds = await api.listEngineVersions({})
  const old = builds.find((build) => build.engine === 'valkey' && build.insecure)
  const sound = builds.findLast((build) => build.engine === 'valkey' && !build.insecure)
  if (old === undefined || sound === undefined) return skip('there is no such pair of builds here')
  expect(old.known_holes).toContainEqual({ id: expect.any(String), what: expect.any(String), reach: 'code' })
  const create = (name: string, engine_version?: string) =>
    api.createDatabase({ body: { name, memory_size: 0, ...(engine_version && { engine_version }) } })

  const before = await create('before', old.engine_version)
  await fairlead.untilEnded(before.action_uid)
  await api.updateCluster({ body: { unsound_engines_allowed: false } })

  const refusal = await create('after', old.engine_version).catch((cause: unknown) => cause)
  if (!(refusal instanceof ApiError)) throw new Error('it was not refused')
  expect(refusal.code).toBe('insecure_version')
  expect(refusal.message).toContain(`valkey ${sound.engine_version}`)
  const after = await create('after')
  expect(builds.find((build) => build.engine_version === after.engine_version)?.insecure).toBe(false)
  const { engine, engine_version } = after
  expect(builds.filter(({ recommended }) => recommended)).toMatchObject([{ engine, engine_version }])
  await fairlead.untilEnded(after.action_uid)

  // A database that runs it is served, restarted, and can be upgraded to another build.
  const params = { uid: before.uid }
  const restart = { force_restart: true, keep_engine_version: true }
  const foreseen = await api.upgradeDatabase({ params, query: { dry_run: 'true' }, body: restart })
  expect(JSON.stringify(foreseen)).toContain(old.known_holes.at(-1)?.id)
  const restarted = await api.upgradeDatabase({ params, query: {}, body: restart })
  expect((await fairlead.untilEnded(restarted.action_uid)).status).toBe('completed')
  const upgraded = await api.upgradeDatabase({ params, query: {}, body: {} })
  expect((await fairlead.untilEnded(upgraded.action_uid)).status).toBe('completed')
  expect((await api.getDatabase({ params })).engine_version).toBe(sound.engine_version)
})
