import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { operations } from '@fairlead/api'
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type CommandLine, commandLine } from '../../../proof/run-command-line.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

let fairlead: Fairlead
let line: CommandLine
let folder: string
const pair = usualPair()
const [flavour = '', version = ''] = pair.from.split('-')
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-databases-'))
  fairlead = await startFairlead()
  line = commandLine({ FAIRLEAD_CONFIG: folder, FAIRLEAD_HOME: fairlead.home })
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** The text that people read: without control characters, which it may have on a terminal. */
const readable = (shown: string) => stripVTControlCharacters(shown).replaceAll('\r', '')

test('a database is created with the fields that were asked for, and serves when the command ends', async () => {
  const password = join(folder, 'password')
  writeFileSync(password, 'a-long-password\n', { mode: 0o600 })
  const asked = [
    '--memory',
    '100MB',
    '--engine',
    pair.from,
    '--persistence',
    'aof',
    '--eviction',
    'noeviction',
  ]
  const created = await line.run([
    ...['databases', 'create', 'orders', ...asked, '--replication', '--password-file', password],
    ...['--set', 'aof_policy=appendfsync-always', '-o', 'json'],
  ])
  expect(created).toMatchObject({ code: 0, stderr: '' })
  const row = JSON.parse(created.stdout) as Record<string, unknown>
  expect(row).toMatchObject({
    name: 'orders',
    status: 'active',
    engine: flavour,
    engine_version: version,
    memory_size: 100_000_000,
    replication: true,
    data_persistence: 'aof',
    aof_policy: 'appendfsync-always',
    eviction_policy: 'noeviction',
  })
  expect(row).not.toHaveProperty('authentication_engine_pass')
  expect(await line.run(['db', 'availability', 'orders'])).toEqual({
    code: 0,
    stdout: 'available\ttrue\n',
    stderr: '',
  })
  expect(await line.run(['db', 'credentials', 'orders'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--reveal'),
  })
  const revealed = await line.run(['db', 'credentials', 'orders', '--reveal', '--columns', 'password'])
  expect(revealed.stdout).toBe('a-long-password\n')
  const [last] = await fairlead.api.listLogs({ query: { type: 'bdb_credentials_read' } })
  expect(last).toMatchObject({ originator: 'operator' })
  expect(await line.run(['db', 'create', 'more', '--memory', '0', '--engine', 'valkey-1.0'])).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^fairlead: .*\n?.*\[invalid_version\]\n$/),
  })
})

test('a list is a table for people, and full values between tabs for programs', async () => {
  const [row] = await fairlead.api.listDatabases({})
  const build = `${flavour} ${version}`
  const [newest] = row?.upgradable_to
    ? [`${row.upgradable_to.engine} ${row.upgradable_to.engine_version}`]
    : ['']
  const endpoint = `127.0.0.1:${row?.port}`
  expect(await line.run(['db', 'list'])).toEqual({
    code: 0,
    stdout: `orders\tactive\t${build}\t${newest}\t1x2\t${endpoint}\n`,
    stderr: '',
  })
  expect((await line.run(['db', 'list', '-o', 'name'])).stdout).toBe('orders\n')
  expect(JSON.parse((await line.run(['db', 'list', '-o', 'json', '--show-secrets'])).stdout)).toEqual([row])
  expect((await line.run(['db', 'list', '--columns', 'name,memory_size'])).stdout).toBe('orders\t100000000\n')
  expect(await line.run(['db', 'list', '--search', 'nothing', '-o', 'jsonl'])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
  expect(await line.run(['db', 'list', '--columns', 'authentication_engine_pass'])).toMatchObject({
    code: 2,
    stdout: '',
  })

  const table = line.onTerminal(['db', 'list'], { columns: 80, rows: 10 })
  expect(await table.ended).toBe(0)
  expect(table.shown()).toContain('\u001b[32m● active')
  const [head = '', first = ''] = readable(table.shown()).split('\n')
  expect(head).toMatch(/^NAME {4}STATUS {4}ENGINE +GOES TO +GROUPS +ENDPOINT$/)
  expect(first).toMatch(new RegExp(`^orders {2}● active {2}${build} +[\\w .]* +1×2 +:${row?.port}$`))
  const plain = commandLine({
    FAIRLEAD_CONFIG: folder,
    FAIRLEAD_HOME: fairlead.home,
    NO_COLOR: '1',
    LANG: 'C',
  })
  const dull = plain.onTerminal(['db', 'list'])
  expect(await dull.ended).toBe(0)
  expect(dull.shown()).not.toContain('\u001b')
  expect(dull.shown()).toContain('* active')
})

test('what is not there, and what a user may not do, has an exit code of its own and the next command', async () => {
  expect(await line.run(['db', 'show', 'ordres'])).toEqual({
    code: 6,
    stdout: '',
    stderr: expect.stringMatching(/ordres\n.* orders\? {2}\[db_not_exist\]\n$/),
  })
  const viewer = { name: 'eve', password: 'A-password-1', role: 'db_viewer' as const }
  await fairlead.api.createUser({ body: viewer })
  const { access_token: token } = await fairlead.api.authorizeUser({
    body: { username: 'eve', password: 'A-password-1' },
  })
  const eve = commandLine({ FAIRLEAD_CONFIG: folder, FAIRLEAD_SERVER: fairlead.url, FAIRLEAD_TOKEN: token })
  expect(await eve.run(['db', 'create', 'other', '--memory', '0'])).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/create_bdb\n.*--profile NAME {2}\[forbidden\]\n$/),
  })
})

test('the builds that a database can go to are listed, with what is in the way of the others', async () => {
  const { stdout } = await line.run(['db', 'targets', 'orders', '-o', 'json'])
  const { uid = 0 } = (await fairlead.api.listDatabases({}))[0] ?? {}
  expect(JSON.parse(stdout)).toEqual(await fairlead.api.listUpgradeTargets({ params: { uid } }))
  const rows = await line.run(['db', 'targets', 'orders', '--columns', 'engine,possible'])
  expect(rows.stdout).toContain(`${pair.to.replace('-', ' ')}\ttrue\n`)
})

/** What of an answer is otherwise than the contract says, with the place of each. */
const faultsOf = (schema: TSchema, value: unknown) =>
  Value.Errors(schema, value).map(({ instancePath, message }) => `${instancePath} ${message}`)

test('JSON is what the contract of the API says, for lists and for one', async () => {
  const action = operations.getAction.ok
  const asked: readonly (readonly [string, TSchema])[] = [
    ['db list', operations.listDatabases.ok],
    ['db show orders', operations.getDatabase.ok],
    ['db targets orders', operations.listUpgradeTargets.ok],
    ['db availability orders', operations.getAvailability.ok],
    ['db credentials orders --reveal', operations.getCredentials.ok],
    ['actions list', Type.Array(action)],
    ['actions show orders', action],
    ['users list', operations.listUsers.ok],
    ['roles list', operations.listRoles.ok],
    ['acls list', operations.listEngineAcls.ok],
    ['nodes list', operations.listNodes.ok],
    ['modules list', operations.listModules.ok],
    ['audit list', operations.listLogs.ok],
    [
      `db upgrade orders --to ${pair.to} --dry-run`,
      Type.Array(Type.Index(operations.upgradeDatabase.ok, ['plan'])),
    ],
  ]
  for (const [words, schema] of asked) {
    const { code, stdout } = await line.run([...words.split(' '), '-o', 'json'])
    const answer: unknown = JSON.parse(stdout)
    expect([words, code, faultsOf(schema, answer)]).toEqual([words, 0, []])
    if (Array.isArray(answer) && words !== 'modules list') expect(answer).not.toEqual([])
  }
})

test('when nothing reads the answer any more, the command ends, and all is well', async () => {
  const child = line.start(['db', 'targets', 'orders', '-o', 'json'])
  child.stdout?.destroy()
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
})

test('memory and eviction of a database change while it serves, after a dry run that changes nothing', async () => {
  const read = async () => {
    const { memory_size: memory, eviction_policy: eviction } = await fairlead.api.getDatabase({
      params: { uid: 1 },
    })
    return { memory, eviction }
  }
  const before = await read()
  const asked = ['db', 'update', 'orders', '--memory', '120MB', '--eviction', 'allkeys-lfu']
  const foreseen = await line.run([...asked, '--dry-run', '-o', 'json'])
  expect(foreseen).toMatchObject({ code: 0, stderr: '' })
  const changed = { memory_size: 120_000_000, eviction_policy: 'allkeys-lfu' }
  expect(JSON.parse(foreseen.stdout)).toMatchObject(changed)
  expect(faultsOf(operations.updateDatabase.ok, JSON.parse(foreseen.stdout))).toEqual([])
  expect(await read()).toEqual(before)
  expect(await line.run(asked)).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('allkeys-lfu'),
  })
  expect(await read()).toEqual({ memory: 120_000_000, eviction: 'allkeys-lfu' })
  expect(await line.run(['db', 'update', 'orders'])).toMatchObject({ code: 2, stdout: '' })
  const refused = await line.run(['db', 'update', 'orders', '--set', 'sharding=true'])
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('sharding') })
  // An action, which is waited for.
  const saving = ['--persistence', 'snapshot', '--snapshot', '60:10']
  expect(await line.run(['db', 'update', 'orders', ...saving, '-o', 'json'])).toMatchObject({ code: 0 })
  expect(await fairlead.api.getDatabase({ params: { uid: 1 } })).toMatchObject({
    status: 'active',
    data_persistence: 'snapshot',
    snapshot_policy: [{ secs: 60, writes: 10 }],
  })
})

test('a database is deleted only when its name was said', async () => {
  expect(await line.run(['db', 'delete', 'orders'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes=orders'),
  })
  expect(await line.run(['db', 'delete', 'orders', '--yes'])).toMatchObject({ code: 2 })
  const asked = line.onTerminal(['db', 'delete', 'orders'])
  await asked.type('Type orders to go on:', 'no\n')
  expect(await asked.ended).toBe(1)
  expect(readable(asked.shown())).toContain('0 keys, 2 shards')
  expect((await fairlead.api.listDatabases({})).length).toBe(1)
  expect(await line.run(['db', 'delete', 'orders', '--yes=orders'])).toEqual({
    code: 0,
    stdout: 'orders is deleted.\n',
    stderr: '',
  })
  expect(await fairlead.api.listDatabases({})).toEqual([])
  const kinds = await line.run(['actions', 'list', '--columns', 'kind,phase'])
  expect(kinds).toEqual({
    code: 0,
    stdout: 'delete\tcompleted\nchange\tcompleted\ncreate\tcompleted\n',
    stderr: '',
  })
})
