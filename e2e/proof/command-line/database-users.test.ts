import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { type CommandLine, commandLine } from '../../../proof/run-command-line.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { blocksOf, walk } from '../../support/walk.ts'

let fairlead: Fairlead
let run: CommandLine['run']
const folder = mkdtempSync(join(tmpdir(), 'fairlead-acls-'))
beforeAll(async () => {
  fairlead = await startFairlead()
  run = commandLine({ FAIRLEAD_CONFIG: folder, FAIRLEAD_HOME: fairlead.home }).run
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const plain = { memory_size: 0, replication: false, data_persistence: 'disabled' } as const
const refused = (code: number, word: string) => ({ code, stdout: '', stderr: expect.stringContaining(word) })

/** Reads a key on a connection of its own, as a user. Returns "served", or the first word of the error. */
async function readAs(port: number, username: string, password: string, key: string): Promise<string> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    username,
    password,
    retryStrategy: () => null,
    lazyConnect: true,
    enableReadyCheck: false,
  })
  client.on('error', () => undefined)
  try {
    await client.get(key)
    return 'served'
  } catch (cause) {
    return /^[A-Z]+/.exec(cause instanceof Error ? cause.message : '')?.[0] ?? 'closed'
  } finally {
    client.disconnect()
  }
}

test('the printed commands let the users of a role in under a rule, and --revoke ends it', async () => {
  const { port } = await createDatabase(fairlead, { name: 'orders', ...plain })
  const { password } = await fairlead.api.getCredentials({ params: { uid: 1 } })
  await walk(fairlead, blocksOf(fairlead, 'docs/operate/database-users.md').slice(-1))
  const asShop = (key: string) => readAs(port, 'shop', 'a-long-secret', key)
  await until('the user is let in', async () => (await asShop('orders:1')) === 'served')
  expect(await asShop('other:1')).toBe('NOPERM')
  expect(await readAs(port, 'default', password, 'orders:1')).not.toBe('served')
  const shown = await run(['db', 'show', 'orders', '--columns', 'default_user,roles'])
  expect(shown).toEqual({ code: 0, stdout: 'false\tshop=orders-only\n', stderr: '' })

  // A change that locks clients out is not made unasked.
  const revoke = ['db', 'update', 'orders', '--revoke', 'shop', '--default-user']
  expect(await run(revoke)).toMatchObject(refused(2, '--yes'))
  expect(await asShop('orders:1')).toBe('served')
  expect(await run([...revoke, '--yes', '--columns', 'default_user,roles'])).toEqual({
    code: 0,
    stdout: 'true\t\n',
    stderr: '',
  })
  await until('the user is out', async () => (await asShop('orders:1')) !== 'served')
  await until(
    'default is let in',
    async () => (await readAs(port, 'default', password, 'orders:1')) === 'served',
  )
})

test('a rule is made, changed and deleted by name or uid; a dry run changes nothing', async () => {
  const rules = async () => (await fairlead.api.listEngineAcls({})).map(({ name, acl }) => `${name}: ${acl}`)
  const before = await rules()
  const create = ['acls', 'create', 'readers', '--rule', '-@all +@read ~cache:*']
  const foreseen = await run([...create, '--dry-run'])
  expect(foreseen).toMatchObject({
    code: 0,
    stdout: 'uid\t0\nname\treaders\nrule\t-@all +@read ~cache:*\n',
    stderr: 'Nothing was changed.\n',
  })
  expect(await rules()).toEqual(before)
  const created = await run([...create, '-o', 'json'])
  const { uid } = JSON.parse(created.stdout) as { readonly uid: number }
  expect(await rules()).toEqual([...before, 'readers: -@all +@read ~cache:*'])
  expect(await run(create)).toMatchObject(refused(3, '[name_already_exists]'))

  const update = ['acls', 'update', String(uid), '--rule', '+get ~cache:*', '--columns', 'rule']
  expect(await run(update)).toMatchObject(refused(2, '--yes'))
  expect(await run([...update, '--dry-run'])).toMatchObject({ code: 0, stdout: '+get ~cache:*\n' })
  expect((await run(['acls', 'show', 'readers', '--columns', 'rule'])).stdout).toBe('-@all +@read ~cache:*\n')
  expect(await run([...update, '--yes'])).toMatchObject({ code: 0, stdout: '+get ~cache:*\n', stderr: '' })
  expect(await run(['acls', 'update', 'readers'])).toMatchObject({ code: 2, stdout: '' })

  expect(await run(['acls', 'check', '--rule', '+@reed'])).toMatchObject(refused(3, '[invalid_acl]'))
  expect(await run(['acls', 'check', '--rule', '+@read'])).toMatchObject({
    code: 0,
    stdout: 'rule\t+@read\n',
  })
  expect(await run(['acls', 'create', 'none'])).toMatchObject(refused(2, '--rule'))

  expect(await run(['acls', 'delete', 'readers', '--dry-run'])).toMatchObject({ code: 0 })
  expect((await run(['acls', 'delete', 'readers', '--yes'])).code).toBe(2)
  expect((await run(['acls', 'delete', 'readers', '--yes=readers'])).code).toBe(0)
  expect(await rules()).toEqual(before)
  expect(await run(['acls', 'show', 'readers'])).toMatchObject(refused(6, '[acl_not_exist]'))
})

test('roles are granted and revoked beside those that are in; what cannot be meant is not sent', async () => {
  const rule = await fairlead.api.createEngineAcl({ query: {}, body: { name: 'few', acl: '+get ~few:*' } })
  const role = async (name: string) =>
    (await fairlead.api.createRole({ body: { name, management: 'none' } })).uid
  const [left, right] = [await role('left'), await role('The right')]
  const made = await run([
    ...['db', 'create', 'granted', '--memory', '0', '--no-replication', '--persistence', 'disabled'],
    ...['--grant', 'left=Read Only', '--no-default-user', '-o', 'json'],
  ])
  expect([made.code, JSON.parse(made.stdout)]).toMatchObject([
    0,
    { default_user: false, roles_permissions: [{ role_uid: left, redis_acl_uid: 2 }] },
  ])
  const update = ['db', 'update', 'granted']
  const added = await run([
    ...[...update, '--columns', 'roles'],
    ...['--grant', 'The right=few', '--grant', `${left}=1`],
  ])
  expect(added).toMatchObject({ code: 0, stdout: 'left=Full Access, The right=few\n' })
  const acl = await run(['acls', 'delete', 'few', '--yes=few'])
  expect(acl).toMatchObject(refused(3, '[acl_in_use]'))
  const foreseen = await run([...update, '--revoke', 'left', '--dry-run'])
  expect(foreseen.stdout).toMatch(/^roles: left=Full Access, The right=few (→|->) The right=few\n$/)

  expect(await run([...update, '--grant', 'left'])).toMatchObject(refused(2, 'ROLE=ACL'))
  expect(await run([...update, '--grant', 'left=fewer'])).toMatchObject(refused(6, '[acl_not_exist]'))
  expect(await run([...update, '--grant', 'lift=few'])).toMatchObject(refused(6, '[role_not_exist]'))
  expect(await run([...update, '--grant', 'left=few', '--revoke', 'left'])).toMatchObject(
    refused(2, 'named twice'),
  )
  expect(await run([...update, '--revoke', 'DB Viewer', '--yes'])).toMatchObject(
    refused(6, 'does not let in role DB Viewer'),
  )
  const { uid = 0 } = (await fairlead.api.listDatabases({})).find(({ name }) => name === 'granted') ?? {}
  expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
    roles_permissions: [
      { role_uid: left, redis_acl_uid: 1 },
      { role_uid: right, redis_acl_uid: rule.uid },
    ],
  })
})
