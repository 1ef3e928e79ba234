import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { commandLine } from '../../../proof/run-command-line.ts'
import { openScreen } from '../../../proof/screen.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
const folder = mkdtempSync(join(tmpdir(), 'fairlead-look-'))
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** As the operator of the machine. */
const here = () => commandLine({ ...own(), FAIRLEAD_HOME: fairlead.home })
const own = () => ({ FAIRLEAD_CONFIG: join(folder, 'config'), FAIRLEAD_ENGINES: enginesFolder() })

test('the status says what needs a person, with the command that leads on, and how many databases are behind', async () => {
  const quiet = await here().run(['status'])
  expect(quiet).toMatchObject({ code: 0, stderr: '' })
  expect(quiet.stdout).toMatch(
    /^server\thttp.*\nuser\toperator\n.*\nnodes\t1\nnodes_active\t1\ndatabases\t0\n/,
  )
  const { from, to } = usualPair()
  const body = { name: 'orders', memory_size: 1e8, engine_version: from }
  const { uid, action_uid } = await fairlead.api.createDatabase({ body })
  await fairlead.untilEnded(action_uid)
  const { action_uid: upgrade = '' } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to, supervised: true, rollback_window: 'until_finalized' },
  })
  const now = () => fairlead.api.getAction({ params: { uid: upgrade } })
  await until('the upgrade is ready', async () => (await now()).phase === 'ready')

  const json = await here().run(['status', '-o', 'json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    nodes: { total: 1, active: 1 },
    databases: { total: 1 },
    needs_you: [{ name: 'orders', action_uid: upgrade, next: ['fairlead actions resume orders'] }],
    moves: [],
  })
  expect((await here().run(['status', '-o', 'name'])).stdout).toBe('orders\n')
  for (const columns of [200, 40]) {
    const shown = here().onTerminal(['status'], { columns, rows: 24 })
    expect(await shown.ended).toBe(0)
    // The command is whole, also where the terminal is narrow.
    expect(shown.shown()).toMatch(/NEEDS YOU[\s\S]*orders[\s\S]*fairlead actions resume orders/)
  }
  await fairlead.api.resumeAction({ params: { uid: upgrade } })
  await until('the window is open', async () => (await now()).waiting?.hold_reason === 'until_finalized')
  const open = await here().run(['status', '-o', 'json'])
  const orders = ['rollback', 'finalize'].map((order) => `fairlead actions ${order} orders`)
  expect(JSON.parse(open.stdout)).toMatchObject({ needs_you: [{ name: 'orders', next: orders }] })
  const { action_uid: end } = await fairlead.api.rollbackAction({ params: { uid: upgrade } })
  await fairlead.untilEnded(end)
})

test('a list that is watched shows what has changed until Ctrl-C: in its place on a terminal, elsewhere in lines of JSON', async () => {
  const create = (name: string) =>
    createDatabase(fairlead, { name, memory_size: 1e8, engine_version: usualPair().from })
  await create('first')
  const child = here().start(['db', 'list', '--search', 'first', '--watch'])
  let lines = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    lines += piece
  })
  const size = { columns: 100, rows: 24 }
  const session = here().onTerminal(['db', 'list', '--watch'], size)
  const screen = openScreen(size.columns, size.rows)
  let taken = 0
  const shows = (name: string) => {
    const text = session.shown()
    screen.write(text.slice(taken))
    taken = text.length
    return screen.shown().some((row) => row.includes(name))
  }
  await until('both show the first', () => lines.includes('\n') && shows('first'))
  const second = await create('first-again')
  await until('both show the second', () => lines.includes('first-again') && shows('first-again'))
  await fairlead.untilEnded((await fairlead.api.deleteDatabase({ params: { uid: second.uid } })).action_uid)
  await until('the second is gone', () => !shows('first-again'))
  await session.signal('SIGINT')
  expect(await session.ended).toBe(130)
  expect([shows('first'), screen.hasCursor(), screen.unknown]).toEqual([true, true, []])
  const closed = once(child, 'close')
  child.kill('SIGINT')
  expect((await closed)[0]).toBe(130)
  const rows = lines.trimEnd().split('\n')
  expect(rows.map((line) => (JSON.parse(line) as { name: string }).name)).toContain('first-again')
  // What has not changed is not told again.
  expect(new Set(rows).size).toBe(rows.length)
  expect(await here().run(['db', 'list', '--watch', '-o', 'yaml'])).toMatchObject({ code: 2, stdout: '' })
})

test('the doctor says how each fault is mended, and changes nothing; a failed check is exit code 1', async () => {
  const sound = await here().run(['doctor', '-o', 'json'])
  const checks = JSON.parse(sound.stdout) as readonly { check: string; result: string; mend: string | null }[]
  const named = (check: string) => checks.find((one) => one.check === check)
  expect([named('server'), named('builds'), named('clock')]).toMatchObject([
    ...[{ result: 'ok' }, { result: 'ok' }, { result: 'ok' }],
  ])
  expect(
    checks.filter(({ result, mend }) => (result === 'warn' || result === 'bad') && mend === null),
  ).toEqual([])
  expect(sound.code).toBe(checks.some(({ result }) => result === 'bad') ? 1 : 0)

  const bare = commandLine({
    ...own(),
    FAIRLEAD_ENGINES: folder,
    FAIRLEAD_HOME: join(folder, 'none'),
    PATH: '',
  })
  const ill = await bare.run(['doctor', '--columns', 'result,check,mend'])
  expect(ill).toMatchObject({ code: 1, stderr: '' })
  expect(ill.stdout).toContain('bad\tbuilds\tfairlead engines fetch valkey\n')
  expect(ill.stdout).toContain('none\tserver\t')
  // A home is there, and no server answers.
  const down = commandLine({ ...own(), FAIRLEAD_HOME: folder })
  const asked = await down.run(['doctor', '--columns', 'result,check'])
  expect(asked).toMatchObject({ code: 1, stdout: expect.stringContaining('bad\tserver\n') })
  const wrong = commandLine({ ...own(), FAIRLEAD_HOME: fairlead.home, FAIRLEAD_PORT_RANGE: 'x' })
  expect((await wrong.run(['doctor'])).stdout).toMatch(/^bad\tconfiguration\t.*FAIRLEAD_PORT_RANGE/m)
})
