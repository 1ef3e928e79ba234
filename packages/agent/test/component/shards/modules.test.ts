import { chmodSync, existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TrialRequest } from '@fairlead/api'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, type TestHome } from '../../agent-home.ts'
import { anyEngine, engines } from '../../engines.ts'
import { compileTinyModule, type TinyModule } from '../../tiny-module.ts'

async function* pieces(bytes: Uint8Array, size = 1_000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const put = (home: TestHome, { sha256, bytes }: Pick<TinyModule, 'sha256' | 'bytes'>) =>
  home.client.putModule({ params: { sha256 }, file: pieces(bytes) })
const listed = async (home: TestHome) => (await home.client.reportNode({})).modules
const fileOf = (home: TestHome, { sha256 }: TinyModule) => join(home.path, 'modules-of-node', `${sha256}.so`)
const filesOf = (home: TestHome) => readdirSync(join(home.path, 'modules-of-node'))

const trialOf = (wanted: Partial<TrialRequest>, engine = anyEngine()): TrialRequest => ({
  build: { flavour: engine.flavour, version: engine.version },
  cluster: false,
  persistence: 'disabled',
  memoryBytes: 64 * 1024 * 1024,
  evictionPolicy: 'noeviction',
  aofFsync: 'everysec',
  snapshots: [],
  backlogBytes: 1024 * 1024,
  rdbVersionCheck: 'strict',
  modules: [],
  selfTest: [],
  ...wanted,
})

test('a module file is kept under its hash, is reported, may be put again, and is dropped', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const tiny = await compileTinyModule(home.path)
  expect(await listed(home)).toEqual([])
  for (const _again of [1, 2]) expect(await put(home, tiny)).toEqual({ sha256: tiny.sha256 })
  expect(await listed(home)).toEqual([tiny.sha256])
  expect(await readFile(fileOf(home, tiny))).toEqual(tiny.bytes)
  expect(statSync(fileOf(home, tiny)).mode & 0o777).toBe(0o755)
  expect(statSync(join(home.path, 'modules-of-node')).mode & 0o777).toBe(0o700)
  for (const _again of [1, 2]) await home.client.removeModule({ params: { sha256: tiny.sha256 } })
  expect([await listed(home), filesOf(home)]).toEqual([[], []])
})

test('an upload with another hash, or an incomplete one, is refused and leaves no file', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const tiny = await compileTinyModule(home.path)
  const other = { ...tiny, bytes: Buffer.concat([tiny.bytes, Buffer.from('x')]) }
  await expect(put(home, other)).rejects.toThrow(`not ${tiny.sha256}`)
  async function* breaking() {
    yield tiny.bytes.subarray(0, 100)
    throw new Error('the sender is gone')
  }
  const broken = home.client.putModule({ params: { sha256: tiny.sha256 }, file: breaking() })
  await expect(broken).rejects.toThrow()
  await expect.poll(() => filesOf(home)).toEqual([])
  expect(await listed(home)).toEqual([])
})

test.for(engines.map((engine) => ({ engine, name: `${engine.flavour} ${engine.version}` })))(
  'a shard is started with its modules and their arguments, as they are written: $name',
  async ({ engine }) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const tiny = await compileTinyModule(home.path)
    await put(home, tiny)
    const spec = await makeSpec({ modules: [tiny.loaded('a', 'two words', '"', '')] }, engine)
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.becomes('a-1', { state: 'running' })
    using user = await connectAs('default', spec)
    expect(await user.call('TINY.ARGS')).toBe(4)
    await expect(home.client.removeModule({ params: { sha256: tiny.sha256 } })).rejects.toMatchObject({
      code: 'module_in_use',
    })
  },
)

// invariant: No process starts with a module file other than the uploaded one.
test('a shard whose module file is missing or damaged is not started, says which, and starts when the file is there', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const tiny = await compileTinyModule(home.path)
  const spec = await makeSpec({ modules: [tiny.loaded()] })
  const putShard = (revision: string) =>
    home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision } })
  await putShard('first')
  const missing = await home.becomes('a-1', { state: 'failed' })
  expect(missing.why).toBe(`the file of the module tiny is not on this node (${tiny.sha256}.so)`)

  await put(home, tiny)
  await putShard('first')
  await home.becomes('a-1', { state: 'running' })

  // Damaged without our knowledge: the same number of bytes, with its time set back. The running process is
  // not touched.
  const file = fileOf(home, tiny)
  const { atime, mtime } = statSync(file)
  const damaged = Buffer.from(tiny.bytes).fill(0x55, tiny.bytes.length - 1)
  await writeFile(`${file}.tmp`, damaged, { mode: 0o755 })
  await rename(`${file}.tmp`, file)
  utimesSync(file, atime, mtime)
  expect(await listed(home)).toEqual([])
  await putShard('second')
  const failed = await home.becomes('a-1', { state: 'failed' })
  expect(failed.why).toContain('the file of the module tiny is damaged')

  await put(home, tiny)
  chmodSync(file, 0o644)
  expect(await listed(home)).toEqual([])
  chmodSync(file, 0o755)
  await putShard('second')
  await home.becomes('a-1', { state: 'running', revision: 'second' })
})

test('an argument that the module refuses is reported in the words of the module', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const tiny = await compileTinyModule(home.path)
  await put(home, tiny)
  const result = await home.client.tryBuild({ body: trialOf({ modules: [tiny.loaded('bad')] }) })
  expect(result).toMatchObject({ ok: false, why: expect.stringContaining('tiny takes no argument bad') })
})

test.for(engines.map((engine) => ({ engine, name: `${engine.flavour} ${engine.version}` })))(
  'a trial loads the modules and passes their self-test, in cluster mode too: $name',
  async ({ engine }) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const tiny = await compileTinyModule(home.path)
    await put(home, tiny)
    const selfTest = [
      { command: ['TINY.ARGS'], reply: 1 },
      { command: ['SET', 'any', 'key'] },
      { command: ['GET', 'none'], reply: null },
      { command: ['MGET', 'any', 'any'], reply: ['key', 'key'] },
    ]
    for (const cluster of [false, true]) {
      const body = trialOf({ modules: [tiny.loaded('a')], selfTest, cluster }, engine)
      expect(await home.client.tryBuild({ body })).toMatchObject({ ok: true, why: '' })
    }
  },
)

test('a self-test with a wrong answer, an error or no answer fails, and no process is left', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const tiny = await compileTinyModule(home.path)
  await put(home, tiny)
  const whyNot = async (...selfTest: TrialRequest['selfTest']) => {
    const { ok, why } = await home.client.tryBuild({ body: trialOf({ modules: [tiny.loaded()], selfTest }) })
    expect(ok).toBe(false)
    return why
  }
  expect(await whyNot({ command: ['TINY.ARGS'], reply: 7 })).toContain(
    'the self-test TINY.ARGS was answered 0, not 7',
  )
  expect(await whyNot({ command: ['TINY.NOTHING', 'x'] })).toMatch(
    /the self-test TINY\.NOTHING x was answered by an error: ERR unknown command/,
  )
  expect(await whyNot({ command: ['PING'], reply: 'PONG' }, { command: ['TINY.HANG'] })).toMatch(
    /the self-test TINY\.HANG was not answered: .*timed out/i,
  )
  expect(existsSync(join(home.path, 'trials', 'shards'))).toBe(true)
  expect(readdirSync(join(home.path, 'trials', 'shards'))).toEqual([])
  expect(processesIn(join(home.path, 'trials'))).toEqual([])
})

test('a trial with a missing module, or with one of another name or version, fails', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const tiny = await compileTinyModule(home.path)
  const tried = (name: string) =>
    home.client.tryBuild({ body: trialOf({ modules: [{ ...tiny.loaded(), name }] }) })
  expect(await tried('tiny')).toMatchObject({
    ok: false,
    why: expect.stringContaining('is not on this node'),
  })
  await put(home, tiny)
  expect(await tried('grand')).toMatchObject({
    ok: false,
    why: expect.stringMatching(/^it has not loaded the module grand; it has .*tiny/),
  })
})

function processesIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
      } catch {
        return false // it ended while we looked
      }
    })
}
