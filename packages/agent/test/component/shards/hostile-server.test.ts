import { statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { expect, test } from 'vitest'
import { openEngineWall } from '../../../src/engine/engine-wall.ts'
import { ranOutside } from '../../../src/shards/ran-outside.ts'
import { makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { anyEngine } from '../../engines.ts'

const isRoot = process.getuid?.() === 0
const probe = await mkdtemp(join(tmpdir(), 'wall-'))
const { missing } = await openEngineWall(probe, true, pino({ level: 'silent' }))
await rm(probe, { recursive: true })

// invariant: No order of a server makes the agent run a program as root.
test.runIf(missing === null)(
  'a build that needs files outside of its folder runs without a wall; if it would be root, only for a shard that ran like this before',
  async () => {
    await using home = await makeHome()
    await using elsewhere = await makeHome()
    const builds = await buildThatNeeds(home, elsewhere)
    const body = await makeSpec()
    {
      await using _ = await home.start({ builds, engineWall: false })
      await home.client.putShard({ params: { id: 'a-1' }, body })
      const { pid } = await home.becomes('a-1', { state: 'running' })
      process.kill(pid ?? 0, 'SIGKILL')
    }
    await using _ = await home.start({ builds })
    await until(() => home.logged().includes('does not run within a wall'))
    await home.becomes('a-1', { state: 'running' })

    const other = await makeSpec()
    await home.client.putShard({ params: { id: 'b-1' }, body: other })
    if (!isRoot) return void (await home.becomes('b-1', { state: 'running' }))
    const { why } = await home.becomes('b-1', { state: 'failed' })
    expect(why).toContain('without one it would be root')
    // Again, and with its death on record: it never ran.
    await home.client.putShard({ params: { id: 'b-1' }, body: { ...other, revision: 'second' } })
    await home.becomes('b-1', { state: 'failed', revision: 'second' })
    const { build, persistence, memoryBytes, evictionPolicy, aofFsync, snapshots, backlogBytes } = body
    const trial = { persistence, memoryBytes, evictionPolicy, aofFsync, snapshots, backlogBytes, modules: [] }
    const tried = await home.client.tryBuild({
      body: { ...trial, build, cluster: false, rdbVersionCheck: 'strict', selfTest: [] },
    })
    expect(tried).toMatchObject({ ok: false, why: expect.stringContaining('without one it would be root') })
    // A shard that ran like this may not do so with other modules, because only the server names them.
    const modules = [{ sha256: 'a'.repeat(64), name: 'other', args: [] }]
    expect(ranOutside({ spec: body, answeredAt: 1 }, { build, modules })).toBe(false)
    expect(ranOutside({ spec: body, answeredAt: 1, within: true }, body)).toBe(false)
    expect(ranOutside({ spec: body, answeredAt: null }, body)).toBe(false)
  },
)

test('a server cannot make the agent sign in outside of its node, or touch anything except shards and modules by their names', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const body = await makeSpec()
  for (const host of ['127.0.0.2', 'localhost', '/run/other.sock', '0.0.0.0'])
    await expect(
      home.client.putShard({ params: { id: 'a-1' }, body: { ...body, host } }),
    ).rejects.toMatchObject({ code: 'invalid_request' })
  // Nor set what the agent does not set itself.
  for (const encodings of [{ dir: 1 }, { 'hash-max-ziplist-entries': '1\nloadmodule /x' }])
    await expect(
      home.client.putShard({ params: { id: 'a-1' }, body: { ...body, encodings: encodings as object } }),
    ).rejects.toMatchObject({ code: 'invalid_request' })
  for (const id of ['..', '%2e%2e', '%2e%2e%2fproxy', 'a%00', '.leaving-a', 'A', ''])
    await expect(home.client.putShard({ params: { id }, body })).rejects.toThrow()
  for (const sha256 of ['..', '%2e%2e%2f%2e%2e%2fetc%2fpasswd', 'A'.repeat(64), 'a'.repeat(63)]) {
    await expect(home.client.removeModule({ params: { sha256 } })).rejects.toThrow()
    await expect(home.client.putModule({ params: { sha256 }, file: nothing() })).rejects.toThrow()
  }
  expect((await home.client.reportNode({})).shards).toEqual([])
  // A program cannot be named by a path either.
  await home.client.putShard({
    params: { id: 'a-1' },
    body: { ...body, build: { flavour: '../../../bin/sh', version: '8.0.0' } },
  })
  expect((await home.becomes('a-1', { state: 'failed' })).why).toContain('there is no build')
  expect(statSync(join(home.path, 'shards', 'a-1')).isDirectory()).toBe(true)
})

async function* nothing() {
  yield new Uint8Array()
}

/** A build whose program needs a file of another folder, which is not shown within a wall. */
async function buildThatNeeds(home: TestHome, elsewhere: TestHome) {
  const program = join(home.path, 'front')
  await writeFile(join(elsewhere.path, 'needed'), '')
  await writeFile(program, `#!/bin/sh\n. ${elsewhere.path}/needed && exec ${anyEngine().program} "$@"\n`, {
    mode: 0o755,
  })
  const found = { ...anyEngine(), program }
  return { list: () => Promise.resolve([found]), find: () => Promise.resolve(found) }
}
