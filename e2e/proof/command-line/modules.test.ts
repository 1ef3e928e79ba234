import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Output, operations } from '@fairlead/api'
import { connectEngine, type Reply } from '@fairlead/engine'
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { packTally } from '../../../proof/modules/add-module.ts'
import { type CommandLine, commandLine } from '../../../proof/run-command-line.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

const folder = mkdtempSync(join(tmpdir(), 'fairlead-modules-'))
let fairlead: Fairlead
let line: CommandLine
beforeAll(async () => {
  fairlead = await startFairlead()
  line = commandLine({ FAIRLEAD_CONFIG: folder, FAIRLEAD_HOME: fairlead.home })
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** The answer of a command with `-o json`, which must be what the contract says. */
async function answerOf(schema: TSchema, ...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await line.run([...args, '-o', 'json'])
  expect([args.join(' '), code], stderr).toEqual([args.join(' '), 0])
  const answer: unknown = JSON.parse(stdout)
  const faults = Value.Errors(schema, answer).map(({ instancePath, message }) => `${instancePath} ${message}`)
  expect([args.join(' '), faults]).toEqual([args.join(' '), []])
  return answer
}
/** As a client does, with what `credentials` says. */
async function ask(command: string, ...args: readonly string[]): Promise<Reply> {
  const asked = ['db', 'credentials', 'sums', '--reveal']
  const { username, password, endpoints } = (await answerOf(
    operations.getCredentials.ok,
    ...asked,
  )) as Output<typeof operations.getCredentials>
  using client = await connectEngine({
    address: { host: '127.0.0.1', port: endpoints[0]?.port ?? 0 },
    login: { username, password },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
  return await client.call(command, ...args)
}
const action = operations.getAction.ok
const runs = async () => {
  const { module_list } = await fairlead.api.getDatabase({ params: { uid: 1 } })
  return module_list.map(({ module_name, semantic_version }) => `${module_name} ${semantic_version}`)
}

test('a module is uploaded, a database with it is created, and `modules upgrade` brings a newer version that keeps its data', async () => {
  for (const version of ['1.0.0', '1.1.0'] as const) {
    const file = join(folder, `tally-${version}.zip`)
    await packTally(version, file)
    await answerOf(operations.uploadModule.ok, 'modules', 'upload', file)
  }
  const create = [
    'db',
    'create',
    'sums',
    '--memory',
    '0',
    '--engine',
    build('valkey', '8.1'),
    '--replication',
  ]
  await answerOf(operations.getDatabase.ok, ...create, '--module', 'tally@1.0.0')
  expect(await runs()).toEqual(['tally 1.0.0'])
  expect(await ask('TALLY.ADD', 'sum', '5')).toBe(5)

  const upgrade = ['modules', 'upgrade', 'sums', 'tally']
  const plans = Type.Array(Type.Index(operations.upgradeDatabase.ok, ['plan']))
  expect(await answerOf(plans, ...upgrade, '--dry-run')).toMatchObject([{ change: true }])
  const dry = await line.run([...upgrade, '--dry-run', '--exit-code'])
  expect(dry).toMatchObject({ code: 10, stdout: expect.stringContaining('tally 1.1.0') })
  expect(dry.stderr).toContain('Start it:  fairlead modules upgrade sums')
  expect(await runs()).toEqual(['tally 1.0.0'])

  const begun = await answerOf(action, ...upgrade, '--yes', '--rollback-window', 'until-finalized')
  expect(begun).toMatchObject({ outcome: null, phase: 'window', certificates: [{ from: '1' }] })
  await answerOf(action, 'actions', 'show', 'sums')
  expect(await answerOf(action, 'actions', 'finalize', 'sums', '--yes')).toMatchObject({
    outcome: 'completed',
  })
  expect(await runs()).toEqual(['tally 1.1.0'])
  expect(await ask('TALLY.GET', 'sum')).toBe(5)
})

test('what is newest already is said, what is not there is refused, and a module that is used is not deleted', async () => {
  expect(await line.run(['modules', 'upgrade', 'sums', '--yes'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('there is nothing to change'),
  })
  const nothing = await line.run(['modules', 'upgrade', 'sums', 'nothing', '--yes'])
  expect(nothing).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('nothing') })
  const listed = await answerOf(operations.listModules.ok, 'modules', 'list')
  expect(listed).toHaveLength(2)
  const inUse = await line.run(['modules', 'delete', 'tally@1.1.0', '--yes'])
  expect(inUse).toMatchObject({ code: 3, stdout: '' })
  expect(await line.run(['modules', 'delete', 'tally@1.0.0', '--yes'])).toMatchObject({ code: 0 })
})
