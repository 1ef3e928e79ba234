import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { ActionEvent } from '@fairlead/api'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type CommandLine, commandLine } from '../../../proof/run-command-line.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
let line: CommandLine
let folder: string
const pair = usualPair()
const [before, after] = [pair.from, pair.to].map((build) => build.replace('-', ' '))
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-upgrade-'))
  fairlead = await startFairlead()
  line = commandLine({ FAIRLEAD_CONFIG: folder, FAIRLEAD_HOME: fairlead.home })
  await line.run(['db', 'create', 'orders', '--memory', '0', '--engine', pair.from])
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const running = async () => {
  const { 'state-machines': all } = await fairlead.api.listActions({ query: {} })
  return all.filter(({ outcome }) => outcome === null)
}
/** A command while it runs, and all that it has said so far on stderr. */
function begin(args: readonly string[]) {
  const child = line.start(args)
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    said += piece
  })
  const stdout = child.stdout === null ? Promise.resolve('') : text(child.stdout)
  const ended = once(child, 'close').then(async ([code]) => ({ code, stdout: await stdout, stderr: said }))
  return { child, said: () => said, ended }
}

const upgradeOrders = (...more: readonly string[]) =>
  line.run(['db', 'upgrade', 'orders', '--to', pair.to, ...more])

test('a dry run says what would be done, changes nothing, and is a gate for programs', async () => {
  const plan = await upgradeOrders('--rollback-window', '15m', '--dry-run')
  expect(plan).toMatchObject({ code: 0 })
  // All of what it prints is in examples/04-dry-run.txt.
  expect(plan.stdout).toContain(`orders   ${before} → ${after}\n`)
  const gate = await upgradeOrders('--rollback-window', '15m', '--dry-run', '--exit-code', '-o', 'json')
  expect(gate).toMatchObject({ code: 10, stderr: '' })
  expect(JSON.parse(gate.stdout)).toMatchObject([
    {
      change: true,
      handovers: 1,
      outage_ms: 0,
      trial: { ok: true },
      way_back: { until: 'time', seconds: 900 },
    },
  ])
  const twice = ['db', 'upgrade', 'orders', 'orders', '--to', pair.to, '--dry-run', '-o', 'name']
  expect(await line.run(twice)).toEqual({ code: 0, stdout: 'orders\n', stderr: '' })
  expect(
    await line.run(['db', 'upgrade', 'orders', '--to', pair.from, '--dry-run', '--exit-code']),
  ).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('there is nothing to change'),
  })
  expect(await line.run(['db', 'upgrade', 'orders', '--to', 'valkey-1.0', '--yes'])).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/\[invalid_version\]\n$/),
  })
  expect(await line.run(['db', 'upgrade', 'orders', '--to', pair.to])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  })
  expect(await line.run(['modules', 'upgrade', 'orders', '--yes'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('orders has no modules'),
  })
  expect(await running()).toEqual([])
})

test('an upgrade is done when the goal serves, its way back is named, and a rollback takes it back', async () => {
  const done = await upgradeOrders('--rollback-window', '1h', '--yes')
  expect(done.code).toBe(0)
  expect(done.stdout).toMatch(
    new RegExp(
      `^orders .* ${after}\\. .*\\n {2}handover 1 -> \\d+, .* [\\d.]+ ms, offsets (\\d+) = \\1, 0 keys`,
    ),
  )
  expect(done.stdout).toMatch(/ \S+Z: {3}fairlead actions rollback orders/)
  expect(done.stderr).toMatch(/^\d\d:\d\d:\d\dZ orders: .*\n/)
  expect(done.stderr.split('\n').filter((each) => each.includes('handover 1 ->'))).toHaveLength(1)
  expect(done.stdout + done.stderr).not.toContain('\u001b')

  const asked = line.onTerminal(['actions', 'rollback', 'orders'], { columns: 200, rows: 40 })
  await asked.type('[y/N]', 'n\n')
  expect(await asked.ended).toBe(1)
  expect(await running()).toHaveLength(1)
  const watching = begin(['actions', 'watch', 'orders', '--wait', 'finalized'])
  await until('it has begun', async () => watching.said().includes('orders: '))
  const back = await line.run(['db', 'rollback', 'orders', '--yes'])
  expect(back).toMatchObject({ code: 0, stderr: '' })
  expect(back.stdout).toMatch(new RegExp(`^handover \\d+ -> 1, .*\\n.* ${before}\\.\\n$`))
  expect(await watching.ended).toMatchObject({ code: 8, stdout: expect.stringContaining('Rolled back') })
})

test('for programs there is one JSON a line: plan, each event once also when the server dies, and the result', async () => {
  const child = begin([
    ...['db', 'upgrade', 'orders', '--to', pair.to, '--rollback-window', 'until-finalized'],
    ...['--yes', '--wait', 'finalized', '-o', 'jsonl'],
  ])
  await until('it is served by the goal', async () => (await running())[0]?.phase === 'window')
  await fairlead.server.end('SIGKILL')
  await fairlead.server.start()
  expect(await line.run(['databases', 'finalize', 'orders', '--yes'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${after}.\n`),
  })
  const { code, stdout, stderr } = await child.ended
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each) as ActionEvent | { readonly type: string })
  expect(lines[0]?.type).toBe('plan')
  expect(lines.at(-1)).toMatchObject({ type: 'result', outcome: 'completed' })
  for (const each of lines.filter((one) => 'seq' in one)) expect(Value.Check(ActionEvent, each)).toBe(true)
  const seqs = lines.flatMap((each) => ('seq' in each ? [each.seq] : []))
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
  expect(lines.some(({ type }) => type === 'handover')).toBe(true)
})

test('Ctrl-C ends the watching and not the upgrade, as does the end of a wait; what took it back is code 8', async () => {
  await line.run(['db', 'create', 'cache', '--memory', '0', '--engine', pair.from])
  const watched = begin(['db', 'upgrade', 'cache', '--to', pair.to, '--supervised', '--yes'])
  await until('it waits for a person', async () => watched.said().includes('Ready for your go'))
  watched.child.kill('SIGINT')
  const { code, stdout, stderr } = await watched.ended
  expect([code, stdout]).toEqual([130, ''])
  expect(stderr).toMatch(/ 0 of 1 group .*\n.*fairlead actions watch cache/)
  expect(await line.run(['actions', 'watch', 'cache', '--wait-timeout', '1s'])).toMatchObject({
    code: 9,
  })
  expect(await running()).toMatchObject([{ phase: 'ready' }])
  const view = line.onTerminal(['actions', 'watch', 'cache'], { columns: 100, rows: 24 })
  await view.type('fairlead actions resume cache', '\u0003')
  expect(await view.ended).toBe(130)
  expect(view.shown()).toContain(`cache  ${before} → ${after} `)
  // Each change is one write, and the cursor is there again.
  const counts = ['\u001b[?2026h', '\u001b[?2026l', '\u001b[?25l', '\u001b[?25h'].map(
    (order) => view.shown().split(order).length,
  )
  expect(counts).toEqual([counts[0], counts[0], 2, 2])
  expect(view.shown()).toMatch(/fairlead: [\s\S]*fairlead actions watch/)
  expect(await line.run(['actions', 'watch', 'cache', '--wait', 'ready'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('fairlead actions resume cache'),
  })
  const other = begin(['actions', 'watch', 'cache', '-o', 'json'])
  await until('it follows', async () => (await running()).length === 1)
  expect(await line.run(['actions', 'cancel', 'cache', '--yes'])).toMatchObject({ code: 0 })
  const taken = await other.ended
  expect(taken.code).toBe(8)
  expect(JSON.parse(taken.stdout)).toMatchObject({ outcome: 'cancelled' })
})

test('several are planned first and asked about once; what a person answers on a terminal counts', async () => {
  const session = line.onTerminal(
    ['db', 'upgrade', 'orders', 'cache', '--to', pair.to, '--rollback-window', '0', '--no-wait'],
    {
      columns: 100,
      rows: 40,
    },
  )
  await session.type('[y/N]', 'y\n')
  expect(await session.ended).toBe(0)
  const shown = stripVTControlCharacters(session.shown()).replaceAll('\r', '')
  expect(shown).toContain(`orders runs ${after}:`)
  expect(shown).toContain(`(${fairlead.home})? [y/N]`)
  const uid = /^[0-9a-f-]{36}$/m.exec(shown)?.[0]
  expect(await fairlead.untilEnded(uid)).toMatchObject({ outcome: 'completed' })
  const unknown = await line.run(['db', 'upgrade', 'orders', 'nothing', '--yes'])
  expect(unknown).toMatchObject({ code: 6, stdout: '' })
})
