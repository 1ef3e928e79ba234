import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverLogs } from '@fairlead/server/settings'
import { expect } from 'vitest'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { commandLine } from '../../proof/run-command-line.ts'
import { adminPassword } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { pidsOf } from '../support/pids-of.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()

/** Terminals, progress, Ctrl-C and the other commands are in e2e/proof/command-line. */
test('a session on the command line: create, dry run, upgrade, roll back, with an exit code that says how each ended', async ({
  fairlead,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-session-'))
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  const { run } = commandLine({ FAIRLEAD_CONFIG: folder, FAIRLEAD_HOME: fairlead.home })
  const name = freshName('orders')
  const upgrade = (...more: readonly string[]) => run(['db', 'upgrade', name, '--to', to, ...more])
  const recordOf = async () => {
    const { code, stdout } = await run(['db', 'show', name, '-o', 'json'])
    expect(code).toBe(0)
    return JSON.parse(stdout) as { readonly uid: number; readonly engine: string }
  }

  expect(await run(['db', 'create', name, '--memory', '0', '--engine', from])).toMatchObject({
    code: 0,
  })
  expect(await recordOf()).toMatchObject({ engine: 'redis' })

  // As a gate for programs: 10 means that there is something to do.
  expect(await upgrade('--dry-run', '--exit-code', '-o', 'json')).toMatchObject({ code: 10, stderr: '' })
  expect(await upgrade()).toMatchObject({ code: 2, stdout: '' }) // off a terminal it asks for --yes
  expect(await run(['db', 'upgrade', name, '--to', 'valkey-1.0', '--yes'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('[invalid_version]'),
  })
  expect(await recordOf()).toMatchObject({ engine: 'redis' })

  const done = await upgrade('--rollback-window', '1h', '--yes', '-o', 'json')
  expect(done.code).toBe(0)
  expect(JSON.parse(done.stdout)).toMatchObject({ phase: 'window', rollback_eligible: true })
  expect((await run(['actions', 'show', name])).code).toBe(0)

  expect((await run(['actions', 'rollback', name, '--yes'])).code).toBe(0)
  expect(await recordOf()).toMatchObject({ engine: 'redis' })
  const watched = await run(['actions', 'watch', name, '--wait', 'finalized', '-o', 'json'])
  expect([watched.code, JSON.parse(watched.stdout)]).toMatchObject([8, { outcome: 'rolled_back' }])
  expect((await run(['db', 'show', freshName('nothing')])).code).toBe(6)
  expect((await run(['status'])).code).toBe(0)
})

test('what would stop databases under their clients asks first, and is refused where no person can be asked', async ({
  fairlead,
}) => {
  const { run, onTerminal } = commandLine({ FAIRLEAD_HOME: fairlead.home })
  const name = freshName('serving')
  expect((await run(['db', 'create', name, '--memory', '0', '--engine', to])).code).toBe(0)
  const before = pidsOf(fairlead.home)

  expect(await run(['down', '--all'])).toMatchObject({ code: 2, stdout: '' })
  const asked = onTerminal(['down', '--all'])
  await asked.type('[y/N]', 'n\r')
  expect(await asked.ended).toBe(1)
  expect(asked.shown()).toMatch(/Stop \d+ databases?, with \d+ clients? connected/)
  expect(pidsOf(fairlead.home)).toEqual(before)
})

test('on the machine of the server, commands need no login: before it, beside it, and after signing out', async ({
  fairlead,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-profiles-'))
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  const { run } = commandLine({ FAIRLEAD_CONFIG: folder, FAIRLEAD_HOME: fairlead.home })
  const user = async (...more: readonly string[]) =>
    (await run(['whoami', '--columns', 'user,profile', ...more])).stdout
  const profiles = async () =>
    (await run(['profiles', 'list', '--columns', 'name,current', '--no-headers'])).stdout
  const login = ['login', '--server', fairlead.url, '--username', 'admin', '--password-stdin']

  expect(await user()).toBe('operator\tlocal\n')
  expect((await run(login, adminPassword)).code).toBe(0)
  expect(await user()).toBe('admin\tdefault\n')
  expect(await user('--profile', 'local')).toBe('operator\tlocal\n')
  expect(await profiles()).toBe('local\tfalse\ndefault\ttrue\n')
  expect((await run(['logout'])).code).toBe(0)
  expect(await user()).toBe('operator\tlocal\n')
  // The profile remembers its server.
  expect((await run(['login', '--password-stdin'], adminPassword)).code).toBe(0)
  expect(await user()).toBe('admin\tdefault\n')
  expect((await run(['profiles', 'delete', 'default'])).code).toBe(0)
  expect(await profiles()).toBe('local\ttrue\n')
  expect(await user()).toBe('operator\tlocal\n')
  expect((await run(['profiles', 'delete', 'default'])).code).toBe(6)
})

test('a database is named as it was typed: in a refusal, in the audit and in a role, not by its number', async ({
  fairlead,
}) => {
  const { run } = commandLine({ FAIRLEAD_HOME: fairlead.home, FAIRLEAD_CONFIG: '/nonexistent' })
  const name = freshName('named')
  await run(['db', 'create', name, '--memory', '0', '--engine', from])
  const supervised = ['db', 'upgrade', name, '--to', to, '--yes', '--wait', 'ready']
  expect((await run(supervised)).code).toBe(0)
  expect(await run(supervised)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`another change of database ${name} is in progress`),
  })
  const audit = ['audit', 'list', '--database', name, '--columns', 'type,database']
  expect((await run(audit)).stdout).toContain(`database_upgrade_requested\t${name}\n`)
  expect((await run([...audit, '--type', 'database_created'])).stdout).toBe(`database_created\t${name}\n`)
  const role = ['roles', 'create', freshName('role'), '--management', 'db_viewer', '--database', name]
  expect((await run([...role, '--columns', 'databases'])).stdout).toBe(`${name}\n`)
  expect((await run(['actions', 'cancel', name, '--yes'])).code).toBe(0)
})

test('the logs of server, agent, proxy and engines are read on the machine, and followed', async ({
  fairlead,
}) => {
  const { run, start } = commandLine({ FAIRLEAD_HOME: fairlead.home, FAIRLEAD_CONFIG: '/nonexistent' })
  const name = freshName('logged')
  await run(['db', 'create', name, '--memory', '0', '--engine', to, '--no-replication'])
  const logs = async (...words: readonly string[]) => (await run(['logs', ...words])).stdout
  expect(await logs('proxy')).toMatch(/^\{.*\}\n/)
  expect(await logs('engine', name, '-n', '1000')).toContain('Ready to accept connections')
  expect((await logs('engine', name, '-n', '2')).split('\n')).toHaveLength(3)
  expect(await run(['logs', 'engine', freshName('nothing')])).toMatchObject({ code: 6, stdout: '' })
  expect(await run(['logs', 'engine'])).toMatchObject({ code: 2, stdout: '' })

  // Server and agent log to files beside stderr; here nothing but errors.
  for (const part of ['server', 'agent'] as const) {
    const child = start(['logs', part, '--follow', '--lines', '0'])
    const closed = once(child, 'close')
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    // A server that gave up root logs its errors in its own folder.
    const places = part === 'server' ? serverLogs(fairlead.home) : [join(fairlead.home, 'agent.log')]
    const file = places.find(existsSync) ?? join(fairlead.home, `${part}.log`)
    await until('the new line is printed', () => {
      appendFileSync(file, '{"msg":"a line of a test"}\n')
      return text.includes('a line of a test')
    })
    child.kill('SIGINT')
    await closed
    expect(child.exitCode).toBe(130)
  }
})

test('what is created says how to connect, what would be changed says from what to what, and a typo is named first', async ({
  fairlead,
}) => {
  const { run, onTerminal } = commandLine({ FAIRLEAD_HOME: fairlead.home, FAIRLEAD_CONFIG: '/nonexistent' })
  const name = freshName('connected')
  const shown = onTerminal(['db', 'create', name, '--memory', '100MiB', '--engine', to])
  expect(await shown.ended).toBe(0)
  const { uid } = JSON.parse((await run(['db', 'show', name, '-o', 'json'])).stdout) as { uid: number }
  const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid },
  })
  expect(shown.shown()).toContain(`-h ${endpoints[0]?.dns_name} -p ${endpoints[0]?.port}`)
  expect(shown.shown()).not.toContain(password)

  const change = await run(['db', 'update', name, '--memory', '200MiB', '--dry-run'])
  expect(change).toMatchObject({ code: 0, stdout: 'memory: 100 MiB → 200 MiB\n' })
  const typo = await run(['db', 'create', name, '--memry', '1GiB'])
  expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown option '--memry'") })
  const missing = await run(['db', 'create', name])
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/^fairlead: --memory <size>/) })
  expect(await run(['db', 'list', '--columns', 'name,foo'])).toMatchObject({ code: 2, stdout: '' })
})
