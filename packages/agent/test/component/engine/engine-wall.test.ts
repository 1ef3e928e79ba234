import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chown, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { expect, test } from 'vitest'
import { openEngineWall } from '../../../src/engine/engine-wall.ts'
import { giveFolder } from '../../../src/folder/give-folder.ts'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { findEngineProcess } from '../../../src/process/process-identity.ts'
import { processesOfOthers } from '../../../src/process/processes-of-others.ts'
import { stopAllShards } from '../../../src/stop-all-shards.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const isRoot = process.getuid?.() === 0
const probe = await mkdtemp(join(tmpdir(), 'wall-'))
const { missing } = await openEngineWall(probe, true, pino({ level: 'silent' }))
await rm(probe, { recursive: true })

// invariant: An engine and its modules see only their own folder and build, where a sandbox works.
test
  .runIf(missing === null)
  .each(engines.map((engine) => [`${engine.flavour} ${engine.version}`, engine] as const))(
  'an engine sees its own folder and its build, nothing else of Fairlead or of other shards, and has no capabilities: %s',
  async (_, engine) => {
    await using home = await makeHome()
    for (const name of ['store.key', 'store.db'])
      await writeFile(join(home.path, name), 'secret', { mode: 0o600 })
    await using _agent = await home.start()
    const spec = await makeSpec({ persistence: 'aof' }, engine)
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.client.putShard({ params: { id: 'b-1' }, body: await makeSpec({}, engine) })
    const { pid } = await home.becomes('a-1', { state: 'running' })
    await home.becomes('b-1', { state: 'running' })

    const inside = (...names: string[]) => join(`/proc/${pid}/root`, home.path, ...names)
    expect(readdirSync(inside())).toEqual(['shards'])
    expect(readdirSync(inside('shards'))).toEqual(['a-1'])
    const { path, conf } = shardFolder(home.path, 'a-1')
    expect(findEngineProcess(path, conf, spec.port)?.pid).toBe(pid)
    expect(existsSync(inside('shards', 'a-1', 'engine.conf'))).toBe(true)
    expect(readdirSync(`/proc/${pid}/root`).toSorted()).not.toContain('root')
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const fields = ['NoNewPrivs', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']
    const values = fields.map((name) => new RegExp(`^${name}:\\s+(\\S+)$`, 'm').exec(status)?.[1])
    expect(values.map(Number)).toEqual([1, 0, 0, 0, 0, 0])
    expect(statSync(`/proc/${pid}`).uid).not.toBe(0)
    if (isRoot)
      expect(lstatSync(join(home.path, 'shards', 'a-1')).uid).not.toBe(
        lstatSync(join(home.path, 'shards', 'b-1')).uid,
      )

    using admin = await connectAs('fairlead', spec)
    // As a module would do it.
    await expect(admin.call('CONFIG', 'SET', 'dir', home.path)).rejects.toThrow()
    await expect(admin.call('CONFIG', 'SET', 'dir', join(home.path, 'shards', 'b-1'))).rejects.toThrow()
    await expect(admin.call('CONFIG', 'SET', 'dir', '/root')).rejects.toThrow()
    // What it may do works.
    expect(await admin.call('ACL', 'SAVE')).toBe('OK')
    expect(await admin.call('SET', 'key', 'value')).toBe('OK')
    expect(await admin.call('SAVE')).toBe('OK')
    expect(existsSync(join(home.path, 'shards', 'a-1', 'data', 'dump.rdb'))).toBe(true)
    expect((await home.client.reportNode({})).noWall).toBe(null)
  },
)

test.runIf(missing === null)('an engine cannot change the records of the agent', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec() })
  const { pid } = await home.becomes('a-1', { state: 'running' })
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n')
  const optionsOf = (path: string) => mounts.find((line) => line.split(' ')[4] === path)?.split(' ')[5]
  const folder = join(home.path, 'shards', 'a-1')
  expect(optionsOf(folder)).toMatch(/^ro,/)
  expect(optionsOf(join(folder, 'data'))).toMatch(/^rw,/)
  if (!isRoot) return
  for (const name of ['wanted.json', 'process.json', 'baseline.json'])
    expect(lstatSync(join(folder, name)).uid).toBe(0)
})

test('if no wall can be built, or none is wanted, engines are started without one, and log and report say why', async () => {
  await using home = await makeHome()
  // A file where the wall is built.
  await writeFile(join(home.path, 'wall'), '')
  const body = await makeSpec()
  {
    await using _ = await home.start()
    await home.client.putShard({ params: { id: 'a-1' }, body })
    const { pid } = await home.becomes('a-1', { state: 'running' })
    expect(statSync(`/proc/${pid}`).uid).toBe(process.getuid?.())
    expect((await home.client.reportNode({})).noWall).toContain('wall')
    expect(home.logged()).toContain('engines run without a wall')
    expect(existsSync(join(home.path, 'trials', 'shards', 'wall'))).toBe(false)
  }
  await rm(join(home.path, 'wall'))
  await using _ = await home.start({ engineWall: false })
  expect((await home.client.reportNode({})).noWall).toBe('FAIRLEAD_ENGINE_WALL is off')
  // Adopted as it is: the next process is within the wall.
  expect((await home.becomes('a-1', { state: 'running' })).crashes).toBe(0)
})

test.runIf(missing === null)(
  'a process from before there were walls is adopted, and the next one reads its data within the wall',
  async () => {
    await using home = await makeHome()
    const spec = await makeSpec({ persistence: 'aof' })
    let before: number | null
    {
      await using _ = await home.start({ engineWall: false })
      await home.client.putShard({ params: { id: 'a-1' }, body: spec })
      before = (await home.becomes('a-1', { state: 'running' })).pid
      using admin = await connectAs('fairlead', spec)
      await admin.call('SET', 'key', 'value')
    }
    await using _ = await home.start()
    const adopted = await home.becomes('a-1', { state: 'running' })
    expect(adopted).toMatchObject({ pid: before, crashes: 0 })
    await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision: 'next' } })
    await until(async () => (await home.shard('a-1'))?.pid !== before)
    const { pid } = await home.becomes('a-1', { state: 'running', revision: 'next' })
    expect(readdirSync(join(`/proc/${pid}/root`, home.path))).toEqual(['shards'])
    using admin = await connectAs('fairlead', spec)
    expect(await admin.call('GET', 'key')).toBe('value')
    expect(await admin.call('BGREWRITEAOF')).toMatch(/started|scheduled/)
  },
)

test.runIf(isRoot && missing === null)(
  'if the home got another owner meanwhile, running engines become owners of their folders again, so that they can save their data',
  async () => {
    await using home = await makeHome()
    const spec = await makeSpec({ persistence: 'snapshot' })
    {
      await using _ = await home.start()
      await home.client.putShard({ params: { id: 'a-1' }, body: spec })
      await home.becomes('a-1', { state: 'running' })
      using admin = await connectAs('fairlead', spec)
      await admin.call('SET', 'key', 'value')
    }
    const { path, data } = shardFolder(home.path, 'a-1')
    await chown(path, 0, 0)
    await chown(data, 0, 0)
    expect(processesOfOthers(home.path, 12_345)).toMatchObject([{ uid: 0 }])
    const signal = AbortSignal.timeout(60_000)
    expect(await stopAllShards(home.path, home.logger, signal)).toMatchObject({
      stopped: ['a-1'],
      refused: [],
    })
    expect(existsSync(join(data, 'dump.rdb'))).toBe(true)
  },
)

test.runIf(isRoot)('links that an engine leaves in its folders give it no access', async () => {
  await using home = await makeHome()
  const folder = shardFolder(home.path, 'a-1')
  await folder.create()
  const secret = join(home.path, 'store.key')
  await writeFile(secret, 'secret', { mode: 0o600 })
  await symlink(secret, join(folder.data, 'nodes.conf'))
  await symlink(home.path, join(folder.data, 'appendonlydir'))
  await giveFolder(folder, 1_900_000_001)
  expect(lstatSync(folder.data).uid).toBe(1_900_000_001)
  expect(lstatSync(join(folder.data, 'nodes.conf')).uid).toBe(1_900_000_001)
  expect([statSync(secret).uid, statSync(home.path).uid]).toEqual([0, 0])
})

test.runIf(isRoot)('of a folder with more files than engines make only a part is read', async () => {
  await using home = await makeHome()
  const folder = shardFolder(home.path, 'a-1')
  await folder.create()
  for (const name of ['1', '2', '3']) await writeFile(join(folder.data, name), '')
  await giveFolder(folder, 1_900_000_001, 3)
  await writeFile(join(folder.data, '4'), '')
  await expect(giveFolder(folder, 1_900_000_001, 3)).rejects.toThrow('more files than an engine makes')
})
