import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { readPlainFile } from '../../../src/process/open-plain-file.ts'
import { removeTree } from '../../../src/process/remove-tree.ts'
import { proxyFolder } from '../../../src/proxy/proxy-folder.ts'
import { createProxyWall } from '../../../src/proxy/proxy-wall.ts'
import { makeHome, makeSpec, until } from '../../agent-home.ts'

const GIB = 1024 ** 3
const kinds: Readonly<Record<string, (path: string) => void>> = {
  'a link to a device without an end': (path) => symlinkSync('/dev/zero', path),
  'a file of 3 GB without content': (path) => {
    writeFileSync(path, '')
    truncateSync(path, 3 * GIB)
  },
  'a named pipe': (path) => execFileSync('mkfifo', [path]),
}
/** All files that the agent reads or replaces where engines write. */
const names = [
  ...['data/nodes.conf', 'data/nodes.conf.draft', 'data/dump.rdb', 'data/appendonly.aof'],
  ...['data/appendonlydir/appendonly.aof.manifest', 'users/users.acl'],
]

// invariant: Files that an engine replaces block no other shard and delete no other file.
test('objects that an engine puts in the place of its files delay no other shard', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  // As many as the threads with which Node waits for files.
  const ids = ['a-1', 'a-2', 'a-3', 'a-4']
  await home.client.putShard({ params: { id: 'b-1' }, body: await makeSpec() })
  for (const id of ids)
    await home.client.putShard({
      params: { id },
      body: await makeSpec({ cluster: true, persistence: 'aof' }),
    })
  for (const id of ids) await home.becomes(id, { state: 'running' })
  const { pid } = await home.becomes('b-1', { state: 'running' })
  const within = { withinMs: 60_000 }
  for (const kind of Object.keys(kinds)) {
    for (const id of ids) for (const name of names) put(join(home.path, 'shards', id, name), kind)
    const since = Date.now()
    for (const id of ids)
      await until(async () => ((await home.shard(id))?.disk?.lookedAt ?? 0) > since, within)
  }
  // And its own start, which reads and writes these files.
  process.kill((await home.shard('a-1'))?.pid ?? 0, 'SIGKILL')
  process.kill(pid ?? 0, 'SIGKILL')
  await until(async () => (await home.shard('b-1'))?.crashes === 1, within)
  await home.becomes('b-1', { state: 'running' })
  expect((await home.shard('b-1'))?.pid).not.toBe(pid)
  await home.client.removeShard({ params: { id: 'a-1' } })
  await until(() => !existsSync(shardFolder(home.path, 'a-1').path), within)
})

function put(path: string, kind: string): void {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(join(path, '..'), { recursive: true })
  kinds[kind]?.(path)
}

test.runIf(process.geteuid?.() === 0)(
  'objects that a proxy puts in the place of its files do not prevent the next start',
  async () => {
    await using home = await makeHome()
    const folder = proxyFolder(home.path)
    await mkdir(folder.own, { recursive: true })
    const { logger, path } = home
    const wall = createProxyWall({ home: path, engines: { missing: null }, lowPorts: false, logger })
    const outside = createProxyWall({ home: path, engines: { missing: 'x' }, lowPorts: false, logger })
    for (const kind of Object.keys(kinds)) {
      put(join(folder.own, 'endpoints.json'), kind)
      put(join(folder.own, 'proxy.lock'), kind)
      const place = await wall.place(folder, [process.execPath, import.meta.filename], false)
      expect(place.program).toBe('unshare')
      // Nor the move of its files when there is no wall any more: then the lock is tested.
      const { program } = await outside.place(folder, [process.execPath, import.meta.filename], false)
      expect(program).toBe(process.execPath)
      expect(existsSync(join(folder.own, 'proxy.lock'))).toBe(false)
    }
    await mkdir(join(folder.own, 'proxy.lock', 'deep'), { recursive: true })
    await outside.place(folder, [process.execPath, import.meta.filename], false)
    expect(existsSync(join(folder.own, 'proxy.lock'))).toBe(false)
    // SQLite keeps files beside one that is a database, and they would be in a folder that is root's.
    using database = new DatabaseSync(join(folder.own, 'proxy.lock'))
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x); BEGIN; SELECT * FROM t')
    await outside.place(folder, [process.execPath, import.meta.filename], false)
    expect(existsSync(join(folder.own, 'proxy.lock'))).toBe(false)
    expect(readdirSync(folder.path).filter((each) => each.includes('looked-at'))).toEqual([])
  },
)

test('of a file that an engine may have written a bounded part is read, and nothing if it is not a plain file', async () => {
  await using folder = await makeFolder()
  const at = (name: string) => join(folder.path, name)
  await writeFile(at('plain'), 'text')
  await symlink(at('plain'), at('link'))
  await mkdir(at('folder'))
  for (const [n, make] of Object.values(kinds).entries()) make(at(`kind-${n}`))
  expect(await readPlainFile(at('plain'), 4)).toBe('text')
  await expect(readPlainFile(at('plain'), 3)).rejects.toThrow('longer than 3 bytes')
  for (const name of ['link', 'folder', 'kind-0', 'kind-1', 'kind-2', 'absent'])
    await expect(readPlainFile(at(name), 1_000), name).rejects.toThrow()
})

test('a folder is deleted with all its contents, however deep, and the targets of its links are not', async () => {
  await using kept = await makeFolder()
  await writeFile(join(kept.path, 'file'), 'kept')
  await using folder = await makeFolder()
  const path = join(folder.path, 'shard')
  // Deeper than the longest path: built from the inside out.
  const name = 'n'.repeat(200)
  for (let n = 0; n < 60; n += 1) {
    const next = join(folder.path, `next-${n}`)
    await mkdir(next)
    await symlink(kept.path, join(next, 'link'))
    await writeFile(join(next, 'file'), '')
    if (n > 0) renameSync(join(folder.path, `next-${n - 1}`), join(next, name))
    if (n === 59) renameSync(next, path)
  }
  await removeTree(path)
  expect(existsSync(path)).toBe(false)
  expect(existsSync(join(kept.path, 'file'))).toBe(true)
  await symlink(kept.path, path)
  await removeTree(path)
  await removeTree(path)
  expect(existsSync(join(kept.path, 'file'))).toBe(true)
})

async function makeFolder() {
  const path = await mkdtemp(join(tmpdir(), 'hostile-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}
