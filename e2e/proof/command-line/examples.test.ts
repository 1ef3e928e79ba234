import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClaimedPorts, claimPorts } from '../../../proof/claim-ports.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { type CommandLine, commandLine } from '../../../proof/run-command-line.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { left, mask } from './examples/mask.ts'

// All that they print, on a terminal of 80 columns and 24 rows unless told. To take new texts: vitest -u,
// then npm run docs.

const folder = mkdtempSync(join(tmpdir(), 'fairlead-examples-'))
let fairlead: Fairlead
let ports: ClaimedPorts
/** The operator on the machine, and eve, a viewer, on another. */
let here: CommandLine
let away: CommandLine
beforeAll(async () => {
  ports = await claimPorts()
  fairlead = await startFairlead({ env: { FAIRLEAD_HTTPS_PORT: String(ports.from) } })
  here = commandLine({ FAIRLEAD_CONFIG: join(folder, 'none'), FAIRLEAD_HOME: fairlead.home })
  away = commandLine({ FAIRLEAD_CONFIG: join(folder, 'eve'), FAIRLEAD_HOME: join(folder, 'nowhere') })
  const create = ['db', 'create', '--memory', '100MiB', '--engine']
  await here.run([...create, build('redis', '7.0'), 'orders'])
  await here.run([
    ...create,
    build('valkey', '8.0'),
    'cache',
    '--no-replication',
    '--persistence',
    'disabled',
  ])
  const eve = ['users', 'create', 'eve', '--role', 'cluster_viewer', '--password-stdin']
  expect(await here.run(eve, 'a-password-of-eve')).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  await ports[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** On a terminal: what is typed after which text, how it ends, and what is then left there. */
async function onTerminal(
  by: CommandLine,
  args: readonly string[],
  code: number,
  typed: readonly (readonly [after: string, keys: string])[] = [],
): Promise<string> {
  const session = by.onTerminal(args)
  for (const [after, keys] of typed) await session.type(after, keys)
  expect(await session.ended, session.shown()).toBe(code)
  return `$ fairlead ${mask(args.join(' '))}\n${left(session.shown())}`
}
/** The same off a terminal. */
async function offTerminal(by: CommandLine, args: readonly string[], code: number): Promise<string> {
  const { stdout, stderr, ...done } = await by.run(args)
  expect(done.code, stderr).toBe(code)
  expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]/u)
  return `$ fairlead ${mask(args.join(' '))}\n${mask(stderr)}${mask(stdout)}`
}
const golden = (text: string, name: string) => expect(text).toMatchFileSnapshot(`examples/${name}.txt`)
const running = async () => {
  const { 'state-machines': all } = await fairlead.api.listActions({ query: {} })
  return all.filter(({ outcome }) => outcome === null)
}
const upgradeOrders = ['db', 'upgrade', 'orders', '--to', 'valkey-8.1']

test('1: sign in', async () => {
  const login = ['login', '--server', `https://127.0.0.1:${ports.from}`]
  const typed = [
    ['[y/N]', 'y\n'],
    ['Username:', 'eve\n'],
    ['Password:', 'a-password-of-eve\n'],
  ] as const
  await golden(await onTerminal(away, login, 0, typed), '01-sign-in')
})

test('2 and 3: list, on a terminal and in a pipe', async () => {
  const list = ['db', 'list', '--upgradable', '--engine-version', 'valkey-8.0']
  await golden(await onTerminal(away, list, 0), '02-list')
  await golden(
    (await offTerminal(away, list, 0)) + (await offTerminal(away, ['db', 'list', '-o', 'name'], 0)),
    '03-list-in-a-pipe',
  )
})

test('4: dry run', async () => {
  const args = [...upgradeOrders, '--rollback-window', '15m', '--dry-run']
  await golden(await onTerminal(here, args, 0), '04-dry-run')
})

test('5 and 9: upgrade, asked about and watched; then roll it back', async () => {
  const upgrade = [...upgradeOrders, '--rollback-window', '15m']
  await golden(await onTerminal(here, upgrade, 0, [['[y/N]', 'y\n']]), '05-upgrade')
  const rollback = ['actions', 'rollback', 'orders']
  await golden(await onTerminal(here, rollback, 0, [['[y/N]', 'y\n']]), '10-roll-back')
})

test('6: in CI, a line of JSON for each that happens', async () => {
  const upgrade = ['db', 'upgrade', 'cache', '--to', 'valkey-8.1', '--rollback-window', '0']
  const args = [...upgrade, '--yes', '--wait', 'finalized', '-o', 'jsonl']
  const { code, stdout, stderr } = await here.run(args)
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>)
  // How often its state and its lanes change depends on the moment: of each kind of line it is said what it
  // has.
  const kinds = new Map(lines.map((one) => [one['type'], Object.keys(one).toSorted().join(' ')]))
  for (const kind of ['action', 'lanes']) kinds.delete(kind)
  await golden(
    `$ fairlead ${args.join(' ')}\n${[...kinds].map(([type, keys]) => `${type}: ${keys}\n`).join('')}${mask(`${JSON.stringify(lines.at(-1))}\n`)}`,
    '06-in-ci',
  )
})

test('7 and 10: Ctrl-C leaves it running, and the status says that it waits for a person', async () => {
  const upgrade = [...upgradeOrders, '--supervised', '--rollback-window', '0', '--yes']
  const ended = await onTerminal(here, upgrade, 130, [['waits for you', '\u0003']])
  await golden(ended, '07-ctrl-c-leaves-it-running')
  expect(await running()).toMatchObject([{ phase: 'ready' }])
  await golden(await onTerminal(here, ['status'], 0), '11-status')
  const resumed = await onTerminal(here, ['actions', 'resume', 'orders'], 0)
  await golden(resumed, '08-resume')
  await until('it has ended', async () => (await running()).length === 0)
})

test('8: refused', async () => {
  const args = ['db', 'upgrade', 'orders', '--to', 'valkey-7.2']
  await golden(
    (await onTerminal(here, args, 3)) + (await offTerminal(here, [...args, '--yes'], 3)),
    '09-refused',
  )
})

test('11: no permission, and a token that has ended', async () => {
  const upgrade = ['db', 'upgrade', 'cache', '--restart', '--yes']
  const forbidden = await onTerminal(away, upgrade, 5)
  const file = join(folder, 'eve/credentials.json')
  const logins = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
  const over = { ...logins, default: { ...logins['default'], endsMs: Date.parse('2026-01-01T03:00:00Z') } }
  writeFileSync(file, JSON.stringify(over), { mode: 0o600 })
  await golden(forbidden + (await onTerminal(away, ['db', 'list'], 4)), '12-not-allowed-or-signed-out')
})

test('12: doctor looks at each of these, and says how to mend what is bad', async () => {
  const { stdout } = await here.run(['doctor', '-o', 'name'])
  await golden(`$ fairlead doctor -o name\n${stdout}`, '13-doctor')
  const session = here.onTerminal(['doctor'], { columns: 200, rows: 40 })
  expect([0, 1]).toContain(await session.ended)
  for (const line of left(session.shown()).trimEnd().split('\n')) expect(line).toMatch(/^[✓!✗–] \S/)
})

test('13: users of a database, under a rule', async () => {
  const acl = ['acls', 'create', 'orders-only', '--rule', '+@read ~orders:*']
  const created = await onTerminal(here, acl, 0)
  expect(await here.run(['roles', 'create', 'shop', '--management', 'none'])).toMatchObject({ code: 0 })
  const update = ['db', 'update', 'cache', '--grant', 'shop=orders-only', '--no-default-user']
  const foreseen = await onTerminal(here, [...update, '--dry-run'], 0)
  const declined = await onTerminal(here, update, 1, [['[y/N]', 'n\n']])
  await golden(created + foreseen + declined, '14-users-of-a-database')
})

test('a pipe that nothing reads any more ends a list with 0 and in silence', async () => {
  const child = here.start(['db', 'list', '-o', 'json'])
  child.stdout?.destroy()
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
})
