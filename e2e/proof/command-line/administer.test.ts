import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { managements, operations } from '@fairlead/api'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { namesOfServer } from '../../../packages/cli/src/commands/completion/names-of-server.ts'
import { createProgram } from '../../../packages/cli/src/run-program.ts'
import { clientTrees } from '../../../packages/cli/src/tree/trees.ts'
import { commandLine } from '../../../proof/run-command-line.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
const folder = mkdtempSync(join(tmpdir(), 'fairlead-people-'))
const config = join(folder, 'config')
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const here = (env: Readonly<Record<string, string>> = {}) =>
  commandLine({ FAIRLEAD_CONFIG: config, FAIRLEAD_HOME: fairlead.home, ...env })
const first = 'The-first-Word-1'
const second = 'The-second-Word-2'

test('users and roles are made, changed and deleted by name; a password is in no output', async () => {
  const run = here().run
  const role = await run(['roles', 'create', 'readers', '--management', 'db_viewer', '-o', 'json'])
  expect([role.code, JSON.parse(role.stdout)]).toMatchObject([
    0,
    { name: 'readers', management: 'db_viewer' },
  ])
  const made = await run(
    ['users', 'create', 'ada', '--role', 'readers', '--password-stdin', '-o', 'json'],
    first,
  )
  expect([made.code, JSON.parse(made.stdout)]).toMatchObject([0, { name: 'ada', role: 'db_viewer' }])
  const faults = [
    ...Value.Errors(operations.createRole.ok, JSON.parse(role.stdout)),
    ...Value.Errors(operations.createUser.ok, JSON.parse(made.stdout)),
  ]
  expect(faults).toEqual([])
  // Off a terminal no person is asked, and nothing is sent without one.
  expect(await run(['users', 'create', 'bob'])).toMatchObject({ code: 2, stdout: '' })
  expect(await run(['users', 'update', 'ada', '--disable'])).toMatchObject({ code: 2, stdout: '' })
  expect(
    await run(['users', 'update', 'ada', '--email', 'ada@example.org', '--columns', 'email']),
  ).toMatchObject({
    code: 0,
    stdout: 'ada@example.org\n',
    stderr: '',
  })
  const file = join(folder, 'password')
  writeFileSync(file, `${second}\n`)
  const set = await run(['users', 'set-password', 'ada@example.org', '--password-file', file])
  expect([set.code, set.stderr]).toEqual([0, ''])
  await fairlead.api.authorizeUser({ body: { username: 'ada', password: second } })
  expect(await run(['roles', 'delete', 'readers', '--yes=readers'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('[role_in_use]'),
  })
  expect(await run(['users', 'delete', 'ada', '--yes'])).toMatchObject({ code: 2, stdout: '' })
  expect((await run(['users', 'delete', 'ada', '--yes=ada'])).code).toBe(0)
  expect((await run(['users', 'list', '-o', 'name'])).stdout).toBe('admin\n')
  expect(await run(['users', 'delete', 'ada', '--yes=ada'])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('[user_not_exist]'),
  })
  expect((await run(['roles', 'delete', 'readers', '--yes=readers'])).code).toBe(0)
  const audit = await run(['audit', 'list', '-o', 'json', '--limit', '200'])
  for (const done of [role, made, set, audit]) {
    expect(done.stdout + done.stderr).not.toContain(first)
    expect(done.stdout + done.stderr).not.toContain(second)
  }
})

test('the log is followed record by record, each once and in order, until Ctrl-C', async () => {
  const [newest] = await fairlead.api.listLogs({ query: { limit: 1, order: 'desc' } })
  const child = here().start(['audit', 'follow', '--lines', '1', '-o', 'jsonl', '--type', 'role_created'])
  const closed = once(child, 'close')
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  await until('the last record is printed', () => text !== '')
  const made = await fairlead.api.createRole({ body: { name: 'followed', management: 'none' } })
  await fairlead.api.deleteRole({ params: { uid: made.uid } })
  await until('the new record is printed', () => text.includes('"followed"'))
  child.kill('SIGINT')
  await closed
  expect(child.exitCode).toBe(130)
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { uid: number; type: string })
  expect(records.map(({ type }) => type)).toEqual(['role_created', 'role_created'])
  expect(records[1]?.uid).toBeGreaterThan(newest?.uid ?? Number.NaN)
  const list = await here().run([
    'audit',
    'list',
    '--limit',
    '1',
    '--type',
    'role_created',
    '--columns',
    'uid',
  ])
  expect(list.stdout).toBe(`${records[1]?.uid}\n`)
})

test('any request of the API is sent as the user of the profile, and refused as every command is', async () => {
  const run = here().run
  const nodes = await run(['api', 'GET', '/v1/nodes'])
  expect(JSON.parse(nodes.stdout)).toMatchObject([{ uid: 1, status: 'active' }])
  expect((await run(['nodes', 'show', '1', '--columns', 'uid,status'])).stdout).toBe('1\tactive\n')
  const body = JSON.stringify({ name: 'sent', management: 'none' })
  expect(JSON.parse((await run(['api', 'post', '/v1/roles', '-d', '@-'], body)).stdout)).toMatchObject({
    name: 'sent',
  })
  const refused = await run(['api', 'POST', '/v1/roles', '-d', body, '-o', 'json'])
  expect(refused).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('"name_already_exists"'),
  })
  expect(await run(['api', 'GET', '/v1/nodes/77'])).toMatchObject({ code: 6, stdout: '' })
  expect(await run(['api', 'GET', 'https://example.org/'])).toMatchObject({ code: 2, stdout: '' })
})

test('a setting of a profile says where it came from, and a protected profile asks for its name before each change', async () => {
  const run = here().run
  expect(await run(['config', 'set', 'output', 'json'])).toMatchObject({ code: 2, stdout: '' })
  mkdirSync(config, { recursive: true, mode: 0o700 })
  writeFileSync(join(config, 'config.json'), JSON.stringify({ current: 'prod', profiles: { prod: {} } }))
  expect((await run(['config', 'set', 'server', fairlead.url])).code).toBe(0)
  expect((await run(['config', 'set', 'protected', 'true'])).code).toBe(0)
  expect((await run(['config', 'set', 'server', 'http://example.org'])).code).toBe(2)
  const list = (await here({ FAIRLEAD_TOKEN: fairlead.token }).run(['config', 'list'])).stdout
  expect(list).toContain(`server\t${fairlead.url}\tprofile\n`)
  expect(list).toContain('token\ta token\tenvironment\n')
  expect(list).not.toContain(fairlead.token)
  expect((await run(['config', 'get', 'protected'])).stdout).toBe('true\n')
  const signedIn = here({ FAIRLEAD_TOKEN: fairlead.token }).run
  const create = ['roles', 'create', 'guarded', '--management', 'none']
  expect(await signedIn([...create, '--yes'])).toMatchObject({ code: 2, stdout: '' })
  expect((await signedIn([...create, '--yes=prod'])).code).toBe(0)
  rmSync(config, { recursive: true })
})

test('names of the server are completed, and kept in a file of their owner alone; without a server it is silent', async () => {
  const cache = join(folder, 'cache')
  const env = { FAIRLEAD_CONFIG: config, FAIRLEAD_HOME: fairlead.home, XDG_CACHE_HOME: cache }
  // A busy machine needs more than the 300 ms that a person waits.
  const names = namesOfServer(env, 60_000)
  expect(await names('role', new Map())).toEqual(expect.arrayContaining(['Cluster Member', 'DB Viewer']))
  expect(await names('user', new Map())).toEqual(['admin'])
  expect(await names('nothing', new Map())).toEqual([])
  const kept = join(cache, 'fairlead', 'names')
  const modes = [kept, ...readdirSync(kept).map((name) => join(kept, name))].map(
    (path) => statSync(path).mode,
  )
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o600, 0o600])
  const nowhere = here({ FAIRLEAD_HOME: join(folder, 'none') })
  expect(await nowhere.run(['__complete', 'roles', 'show', ':'])).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('the choices of the tree are those of the API', async () => {
  const program = await createProgram({ trees: clientTrees, settings: { env: {}, checkHere: null } })
  const create = program.commands
    .find((one) => one.name() === 'roles')
    ?.commands.find((one) => one.name() === 'create')
  const choices = create?.options.find(({ long }) => long === '--management')?.argChoices
  expect(choices).toEqual([...managements])
})
