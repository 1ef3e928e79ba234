import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { packTally } from '../../proof/modules/add-module.ts'
import { adminPassword, type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'

const root = join(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** Runs a program to its end; answers what it printed. */
async function run(
  command: string,
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString()
  })
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString()
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}

test('the demo proves what the README says about it, as one JSON object', { timeout: 180_000 }, async () => {
  const { code, stdout, stderr } = await run(process.execPath, ['tools/run.mjs', 'demo', '--json'])
  expect(code, stderr).toBe(0)
  const summary = JSON.parse(stdout) as Record<string, unknown>
  expect(summary).toEqual({
    from: expect.stringMatching(/^redis 7\.0\./),
    to: expect.stringMatching(/^valkey \d/),
    acked: expect.any(Number),
    lost: 0,
    duplicated: 0,
    errors: 0,
    reconnects: 0,
    full_syncs: 0,
    write_stop_ms: { median: expect.any(Number), max: expect.any(Number) },
    client_gap_ms: { median: expect.any(Number), max: expect.any(Number) },
    seconds: expect.any(Number),
  })
  expect(summary['acked']).toBeGreaterThan(100_000)
})

/** A walk must not depend on an empty cluster. */
async function createAnother({ api, untilEnded }: Fairlead): Promise<void> {
  const body = { name: 'another', memory_size: 0, engine_version: 'valkey-8.0' }
  await untilEnded((await api.createDatabase({ body })).action_uid)
}

/** The blocks of a page as people paste them into a shell, which goes on after an error. */
async function paste({ url, home }: Fairlead, page: string): Promise<{ stdout: string; stderr: string }> {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
  const script = blocks.map(([, block = '']) => block).join('')
  const filled = script
    .replace('http://127.0.0.1:8080', url)
    .replace('PASSWORD', adminPassword)
    .replaceAll('"valkey-8.1"', '"valkey-9.9"')
    .replaceAll('events.txt', join(home, 'events.txt'))
  const shell = `bash --norc -i <<'PASTED'\n${filled}\nPASTED`
  // Processes that it leaves behind keep the pipes open: a walk that hangs is ended together with them.
  return run('setsid', ['-w', 'timeout', '-s', 'KILL', '60', 'bash', '-c', shell])
}

test('pasted commands end with a clear error: for an unknown version, and when they are pasted again', async () => {
  await using fairlead = await startFairlead()
  await createAnother(fairlead)
  for (const [page, name] of [
    ['README.md', 'orders'],
    ['docs/upgrades.md', 'payments'],
  ] as const) {
    const wrongVersion = await paste(fairlead, page)
    expect(wrongVersion.stderr).toMatch(/no upgrade was begun: .*"error_code":"invalid_version".*9\.9/)
    const second = await paste(fairlead, page)
    expect(second.stderr).toContain(`a database named ${name} exists`)
  }
  const recipe = await paste(fairlead, 'docs/recipes/follow-an-upgrade-live.md')
  expect(recipe.stderr).toContain('a database named orders exists')
  expect(await fairlead.api.getDatabase({ params: { uid: 1 } })).toMatchObject({
    name: 'another',
    engine: 'valkey',
  })
})

test('the five commands in the README create a database, upgrade it and roll it back, as they are printed', async () => {
  await using fairlead = await startFairlead()
  const [, block = ''] = /```bash\n([\s\S]*?)```/.exec(readme) ?? []
  const program = `${process.execPath} --conditions=@fairlead/source packages/cli/src/main.ts`
  // No person can be asked here.
  const script = block
    .replaceAll('npm run -s fairlead --', program)
    .replaceAll(/( databases upgrade .*| actions rollback .*)$/gm, '$1 --yes')
  const { code, stdout, stderr } = await run('bash', [
    ...['-euo', 'pipefail', '-c'],
    `export FAIRLEAD_HOME=${fairlead.home}\n${script}`,
  ])
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/carts is served by valkey 8\.1\./)
  const [action] = await fairlead.api.listDatabaseActions({ params: { uid: 1 }, query: { limit: 1 } })
  expect([action?.outcome, action?.certificates.length]).toEqual(['rolled_back', 2])
})

test('the walk through the API in the README works as it is printed', async () => {
  await using fairlead = await startFairlead()
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(readme) ?? []
  const script = block
    .replace('http://127.0.0.1:8080', fairlead.url)
    .replace('PASSWORD', 'the-proof-is-in-the-ledger')
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script])
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout.slice(stdout.lastIndexOf('{"action_uid"')))).toMatchObject({
    name: 'SMUpgradeBDB',
    object_name: 'bdb:1',
  })

  const [{ port = 0 } = {}] = (await fairlead.api.getDatabase({ params: { uid: 1 } })).endpoints
  const { authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({ params: { uid: 1 } })
  const [line = ''] = /^\.fairlead\/engines.*valkey-cli .*$/m.exec(readme) ?? []
  const client = line
    .replace('.fairlead/engines', enginesFolder())
    .replace('PORT', String(port))
    .replace('PASSWORD', password)
  expect((await run('bash', ['-euo', 'pipefail', '-c', `${client} PING`])).stdout).toBe('PONG\n')
})

test('the walk through the API in the README ends with an error while its password is not filled in', async () => {
  await using fairlead = await startFairlead()
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(readme) ?? []
  const script = block.replace('http://127.0.0.1:8080', fairlead.url)
  // In an interactive shell, as pasted: it goes on after an error.
  const shell = `bash --norc -i <<'PASTED'\n${script}\nPASTED`
  const pasted = await run('setsid', ['-w', 'bash', '-c', shell])
  expect(pasted.stderr).toContain('put the password of the first user in place of PASSWORD')
  expect(pasted.stderr).toMatch(/no database was created: .*"error_code":"unauthorized"/)
})

test('the walk through users and passwords in docs/users.md works as it is printed', async () => {
  await using fairlead = await startFairlead()
  const page = readFileSync(join(root, 'docs/users.md'), 'utf8')
  const [walk = '', change = '', ...commands] = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, block = '']) => block,
  )
  const curl = `${walk}\n${change}`
    .replace('http://127.0.0.1:8080', fairlead.url)
    .replace('PASSWORD', 'the-proof-is-in-the-ledger')
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', curl])
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('"resources":[{"type":"db","uids":["1"]}]')
  expect(stdout).toContain('{"username":"upgrader","passwords":1}')
  const main = `${process.execPath} --conditions=@fairlead/source packages/cli/src/main.ts`
  for (const block of commands) {
    const script = `export FAIRLEAD_HOME=${fairlead.home}\n${block.replaceAll('npm run -s fairlead --', main)}`
    expect(await run('bash', ['-euo', 'pipefail', '-c', script])).toMatchObject({ code: 0, stderr: '' })
  }
  expect(commands.length).toBe(3)
})

test('the recipe to follow an upgrade live works as it is printed', async () => {
  await using fairlead = await startFairlead()
  await createAnother(fairlead)
  const page = readFileSync(join(root, 'docs/recipes/follow-an-upgrade-live.md'), 'utf8')
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const script = blocks
    .join('echo RESUMED\n')
    .replace('http://127.0.0.1:8080', fairlead.url)
    .replace('PASSWORD', 'the-proof-is-in-the-ledger')
    .replaceAll('events.txt', join(fairlead.home, 'events.txt'))
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script])
  expect(code, stderr).toBe(0)

  const [whole = '', resumed = ''] = stdout.split('RESUMED\n')
  const ids = (text: string) => [...text.matchAll(/\bid: (\d+)$/gm)].map(([, id]) => Number(id))
  expect(ids(whole).length).toBeGreaterThan(5)
  expect(ids(whole)).toEqual([...new Set(ids(whole))].toSorted((a, b) => a - b))
  expect(ids(resumed)).toEqual(ids(whole).slice(1))
  expect(whole).toMatch(/^data: .*"write_stop_ms":.*"full_syncs":0/m)
  expect(whole).toMatch(/"status":"completed".*\n\nevent: end\ndata: \{\}\n\n$/)
  const { engine_version } = await fairlead.api.getDatabase({ params: { uid: 1 } })
  expect(engine_version, 'another database was upgraded').toMatch(/^8\.0\./)
})

test('the walk through modules in docs/modules.md works as it is printed', async () => {
  await using fairlead = await startFairlead()
  await createAnother(fairlead)
  for (const version of ['1.0.0', '2.0.0'] as const)
    await packTally(version, join(fairlead.home, `tally-${version}.zip`))
  const page = readFileSync(join(root, 'docs/modules.md'), 'utf8')
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const script = blocks
    .join('echo NEXT\n')
    .replace('http://127.0.0.1:8080', fairlead.url)
    .replace('PASSWORD', 'the-proof-is-in-the-ledger')
    .replaceAll('@tally-', `@${fairlead.home}/tally-`)
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script])
  expect(code, stderr).toBe(0)
  expect(stdout.split('NEXT\n')[1]).toMatch(
    /"uid":2,"name":"sums",.*"module_name":"tally","semantic_version":"2\.0\.0","module_args":"STEP 2"/,
  )
})

test('the walk through an upgrade and its way back in docs/upgrades.md works as it is printed', async () => {
  await using fairlead = await startFairlead()
  const page = readFileSync(join(root, 'docs/upgrades.md'), 'utf8')
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const script = blocks
    .join('echo NEXT\n')
    .replace('http://127.0.0.1:8080', fairlead.url)
    .replace('PASSWORD', 'the-proof-is-in-the-ledger')
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script])
  expect(code, stderr).toBe(0)
  const [planned = '', resumed = '', back = '', , full = ''] = stdout.split('NEXT\n')
  expect(planned).toMatch(/"plan":\{"engine":"valkey".*"handovers":1.*"trial":\{"ok":true/)
  expect(resumed).toMatch(/"rollback_eligible":true/)
  expect(back).toMatch(/"role":"master".*"engine":"redis"\n$/)
  expect(full).toMatch(/"error_code":"memory_size_too_small".*the database uses \d.* send \d+ or more/)
})
