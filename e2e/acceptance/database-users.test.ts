import { Redis } from 'ioredis'
import { describe, expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { pidOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { untilWindow } from '../../proof/way-back.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()
const plain = { memory_size: 0, data_persistence: 'disabled', engine_version: from } as const

/** Gives a command on a connection of its own. Returns the answer, or the first word of the error. */
async function ask(
  port: number,
  { name, password }: { readonly name: string; readonly password: string },
  ...[command, ...args]: [string, ...string[]]
): Promise<unknown> {
  const login = { host: '127.0.0.1', port, username: name, password }
  const client = new Redis({
    ...login,
    retryStrategy: () => null,
    lazyConnect: true,
    enableReadyCheck: false,
  })
  client.on('error', () => undefined)
  try {
    return await client.call(command, ...args)
  } catch (cause) {
    return /^[A-Z]+/.exec(cause instanceof Error ? cause.message : '')?.[0] ?? 'closed'
  } finally {
    client.disconnect()
  }
}

/** A user of the cluster with a role of its own, which signs in under this rule. */
async function person({ api }: Fairlead, rule: string) {
  const name = freshName('user')
  const password = `${name}-has-a-password`
  const role = await api.createRole({ body: { name: freshName('role'), management: 'none' } })
  const acl = await api.createRedisAcl({ query: {}, body: { name: freshName('rule'), acl: rule } })
  const user = await api.createUser({ body: { name, password, role_uids: [role.uid] } })
  return {
    name,
    password,
    user: user.uid,
    acl: acl.uid,
    binding: { role_uid: role.uid, redis_acl_uid: acl.uid },
  }
}

/** Two keys of a sharded database lie in different groups. */
const keys = ['app:1', 'app:2', 'app:3', 'app:4']

describe('users of the cluster sign in to a database, under the rules of their roles', () => {
  test.for([1, 2])(
    'with %i group(s), through an upgrade and its rollback, and a restart of a shard',
    async (groups, { fairlead }) => {
      const { api } = fairlead
      const reader = await person(fairlead, '+@read +ping ~app:*')
      const writer = await person(fairlead, '+@all -@dangerous ~app:*')
      const roles_permissions = [reader.binding, writer.binding]
      const body = { name: freshName('users'), ...plain, shards_count: groups, roles_permissions }
      const { uid, port } = await createDatabase(fairlead, body)
      const params = { uid }
      expect(await api.getDatabase({ params })).toMatchObject({ roles_permissions, default_user: true })

      const bothWork = async () => {
        for (const key of keys) {
          expect([await ask(port, writer, 'SET', key, 'v'), key]).toEqual(['OK', key])
          expect(await ask(port, reader, 'GET', key)).toBe('v')
          expect(await ask(port, reader, 'SET', key, 'x')).toBe('NOPERM')
          expect(await ask(port, writer, 'SET', `other:${key}`, 'x')).toBe('NOPERM')
        }
      }
      await until('both are there', async () => (await ask(port, reader, 'PING')) === 'PONG')
      await until('the writer, too', async () => (await ask(port, writer, 'GET', 'app:1')) === null)
      await bothWork()

      const { action_uid: action = '' } = await api.upgradeDatabase({
        params,
        body: { engine_version: to, rollback_window: 'until_finalized' },
      })
      await untilWindow(fairlead, { uid, action })
      await bothWork()
      await api.rollbackAction({ params: { uid: action } })
      expect(await fairlead.untilEnded(action)).toMatchObject({ outcome: 'rolled_back' })
      await bothWork()

      const [shard] = (await api.getDatabase({ params })).shard_list
      process.kill(await pidOf(fairlead, Number(shard)), 'SIGKILL')
      await until('it serves again', async () => (await ask(port, writer, 'SET', 'app:1', 'v')) === 'OK')
      await until('all of it', async () => (await ask(port, reader, 'GET', 'app:2')) !== 'closed')
      await bothWork()
    },
  )
})

test('changes of passwords, rules and roles reach the engines within seconds, and a removed user is closed', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const user = await person(fairlead, '+@all ~app:*')
  const { uid, port, password } = await createDatabase(fairlead, { name: freshName('users'), ...plain })
  const own = { name: 'default', password }
  const params = { uid }
  const change = (body: object) => api.updateDatabase({ params, query: {}, body })
  expect(await ask(port, user, 'PING')).toBe('WRONGPASS')
  await change({ roles_permissions: [user.binding] })
  expect(await ask(port, user, 'PING'), 'all shards have the user when the answer comes').toBe('PONG')

  const second = { ...user, password: `${user.name}-has-another-password` }
  const { name: username } = user
  await api.addPassword({ body: { username, new_password: second.password } })
  await until('both passwords fit', async () => (await ask(port, second, 'PING')) === 'PONG')
  expect(await ask(port, user, 'PING')).toBe('PONG')
  await api.removePassword({ body: { username, old_password: user.password } })
  await until('the first one fits no more', async () => (await ask(port, user, 'PING')) === 'WRONGPASS')
  expect(await ask(port, second, 'PING')).toBe('PONG')

  await api.updateRedisAcl({ params: { uid: user.acl }, query: {}, body: { acl: '+ping' } })
  await until('the rule is another', async () => (await ask(port, second, 'GET', 'app:1')) === 'NOPERM')
  await expect(api.deleteRedisAcl({ params: { uid: user.acl }, query: {} })).rejects.toMatchObject({
    code: 'acl_in_use',
  })
  await expect(api.deleteRole({ params: { uid: user.binding.role_uid } })).rejects.toMatchObject({
    code: 'role_in_use',
  })

  await change({ default_user: false })
  await until('default is off', async () => (await ask(port, own, 'PING')) === 'WRONGPASS')
  expect(await ask(port, second, 'PING')).toBe('PONG')
  await change({ default_user: true })
  await until('default is on', async () => (await ask(port, own, 'PING')) === 'PONG')

  await using open = disposable(new Redis({ host: '127.0.0.1', port, username, password: second.password }))
  expect(await open.client.ping()).toBe('PONG')
  const closed = new Promise((resolve) => open.client.once('close', resolve))
  await api.deleteUser({ params: { uid: user.user } })
  await closed
  await until('the user is gone', async () => (await ask(port, second, 'PING')) === 'WRONGPASS')
})

test('no rule gives what the database’s own user may not do, and an engine judges its words', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const all = await person(fairlead, 'allcommands allkeys allchannels +config|get +acl +migrate')
  const roles_permissions = [all.binding]
  const { port } = await createDatabase(fairlead, { name: freshName('users'), ...plain, roles_permissions })
  await until('the user is there', async () => (await ask(port, all, 'PING')) === 'PONG')
  for (const command of ['CONFIG GET dir', 'ACL LIST', 'SHUTDOWN', 'SCRIPT DEBUG NO'])
    expect([command, await ask(port, all, ...(command.split(' ') as [string]))]).toEqual([command, 'NOPERM'])
  expect(await ask(port, all, 'MIGRATE', '127.0.0.1', '1', 'k', '0', '10')).toBe('NOPERM')
  for (const acl of [
    '+@all >password',
    '+@all nopass',
    'on +get',
    '+nosuchcommand',
    '+@all ~* (',
    '+@nothing',
  ])
    await expect(api.validateEngineAcl({ body: { acl } })).rejects.toMatchObject({ code: 'invalid_acl' })
  await expect(
    api.updateRedisAcl({ params: { uid: 1 }, query: {}, body: { acl: '+get' } }),
  ).rejects.toMatchObject({ status: 409, code: 'acl_is_built_in' })
})

function disposable(client: Redis) {
  client.on('error', () => undefined)
  return { client, [Symbol.asyncDispose]: async () => client.disconnect() }
}

test('requests that a rule denies are counted, and a database without its user default is available', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const user = await person(fairlead, '+@read ~app:*')
  const body = { name: freshName('users'), ...plain, engine_version: to, default_user: false }
  const { uid, port, password } = await createDatabase(fairlead, {
    ...body,
    roles_permissions: [user.binding],
  })
  const params = { uid }
  await until('the user is there', async () => (await ask(port, user, 'GET', 'app:1')) === null)
  expect(await ask(port, { name: 'default', password }, 'GET', 'app:1')).not.toBe(null)
  await until('denials are counted', async () => {
    expect(await ask(port, user, 'SET', 'app:1', 'v')).toBe('NOPERM')
    expect(await ask(port, user, 'GET', 'other')).toBe('NOPERM')
    const last = await api.getLastDatabaseStats({ params, query: {} })
    const point: Readonly<Record<string, unknown>> = last[uid] ?? {}
    return Number(point['denied_req'] ?? 0) > 0
  })
  expect(await api.getAvailability({ params, query: {} })).toBeDefined()
})
