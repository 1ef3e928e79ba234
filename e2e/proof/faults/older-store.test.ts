import { cp, glob, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'

const { to } = usualPair()

// invariant: A shard never goes to another database, even on a restored, older store.
test('a database that is created on a restored, older store gets no process and no data of another database', async () => {
  await using fairlead = await startFairlead()
  const { api, server, home } = fairlead
  const create = async (name: string) => {
    const { uid, action_uid } = await api.createDatabase({
      body: { name, memory_size: 0, engine_version: to },
    })
    const action = await fairlead.untilEnded(action_uid)
    const [shard] = await api.listDatabaseShards({ params: { uid } })
    return { action, shard: Number(shard?.uid) }
  }
  await server.end('SIGTERM')
  await using stack = new AsyncDisposableStack()
  const backup = await mkdtemp(join(tmpdir(), 'older-store-'))
  stack.defer(() => rm(backup, { recursive: true }))
  const files: string[] = []
  for await (const file of glob(join(home, '{.,server/own}/store.db*'))) files.push(file)
  for (const file of files) await cp(file, join(backup, basename(file)), { preserveTimestamps: true })
  await server.start()
  const before = await create('before')
  const engine = await asAdmin(fairlead, before.shard)
  await engine.call('SET', 'k', 'of another database')
  await server.end('SIGTERM')
  for await (const file of glob(join(home, '{.,server/own}/store.db*'))) await rm(file)
  for (const file of files) await cp(join(backup, basename(file)), join(dirname(file), basename(file)))
  await server.start()

  const after = await create('after')
  expect(after.action.status, after.action.error).toBe('completed')
  expect(after.shard).not.toBe(before.shard)
  const own = await asAdmin(fairlead, after.shard)
  expect(await own.call('GET', 'k')).toBeNull()
  expect(await engine.call('GET', 'k')).toBe('of another database')
})
