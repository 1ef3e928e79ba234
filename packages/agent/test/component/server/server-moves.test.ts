import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isServerUser } from '@fairlead/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  isMovedIn,
  openServerFolder,
  type ServerFolder,
  serverFolder,
} from '../../../src/server/server-folder.ts'
import { moveIn, moveOut } from '../../../src/server/server-moves.ts'

const isRoot = process.getuid?.() === 0
let home: string
let folder: ServerFolder
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'moves-'))
  folder = serverFolder(home)
})
afterEach(() => rm(home, { recursive: true, force: true }))

describe.runIf(isRoot)('what the server of a home keeps', () => {
  test('moves to its user once, with all commits, and back; a note at the old place tells an older Fairlead that there is no store', async () => {
    await fill(home)
    const uid = await openServerFolder(folder)
    expect(isServerUser(uid)).toBe(true)
    await moveIn(folder, uid)
    expect(await isMovedIn(folder)).toBe(true)
    expect(contentOf(folder.own)).toEqual(all)
    for (const name of ['', 'store.db', 'store.key', 'audit', 'audit/records', 'modules/a.so'])
      expect([name, lstatSync(join(folder.own, name)).uid]).toEqual([name, uid])
    expect(readdirSync(home).toSorted()).toEqual(['server', 'store.db'])
    {
      using older = open(home)
      expect(() => older.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')).toThrow('not a database')
    }
    await moveIn(folder, uid)
    expect(contentOf(folder.own)).toEqual(all)

    await moveOut(folder)
    expect(contentOf(home)).toEqual(all)
    for (const name of ['store.db', 'store.key', 'audit', 'audit/records', 'modules/a.so'])
      expect([name, lstatSync(join(home, name)).uid]).toEqual([name, 0])
    expect(readdirSync(folder.own)).toEqual([])
    // The user stays the same.
    expect(await openServerFolder(folder)).toBe(uid)
  })

  // invariant: The server's store is whole in one place after a crash at any step of its move.
  test('is whole after a crash at any step, whichever way the next start goes', async () => {
    for (const [first, next] of [
      [moveIntoOwn, moveIntoOwn],
      [moveIntoOwn, moveOut],
      [moveOut, moveOut],
      [moveOut, moveIntoOwn],
    ] as const) {
      for (let at = 1, crashed = true; crashed; at += 1) {
        await rm(home, { recursive: true, force: true })
        mkdirSync(home, { mode: 0o700 })
        await fill(home)
        if (first === moveOut) await moveIntoOwn(folder)
        let steps = 0
        const crash = () => {
          steps += 1
          if (steps === at) throw new Error('crashed')
        }
        crashed = await first(folder, crash).then(
          () => false,
          () => true,
        )
        await next(folder)
        const place = next === moveOut ? home : folder.own
        expect([first.name, next.name, at, contentOf(place)]).toEqual([first.name, next.name, at, all])
        expect(await isMovedIn(folder)).toBe(next !== moveOut)
      }
    }
  })

  test('is not moved while a server uses it', async () => {
    await fill(home)
    const uid = await openServerFolder(folder)
    using server = open(home)
    server.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE')
    await expect(moveIn(folder, uid)).rejects.toThrow('another Fairlead server runs')
    expect(existsSync(join(home, 'store.key'))).toBe(true)
  })

  // invariant: Root follows no link that a compromised server left.
  test('comes back without files that a compromised server has put there: no link is followed, and no other file changes its owner', async () => {
    await fill(home)
    const secret = join(home, 'secret')
    await writeFile(secret, 'secret', { mode: 0o640 })
    await moveIntoOwn(folder)
    await symlink(secret, join(folder.own, 'audit', 'link'))
    const deep = 'n=0; while [ $n -lt 1500 ]; do mkdir d && cd d && : >file; n=$((n + 1)); done'
    spawnSync('/bin/sh', ['-c', deep], { cwd: join(folder.own, 'audit') })
    await rm(join(folder.own, 'modules'), { recursive: true })
    await symlink('/etc', join(folder.own, 'modules'))
    await rm(join(folder.own, 'store.db'))
    await symlink(secret, join(folder.own, 'store.db'))
    const etc = statSync('/etc')
    await expect(moveOut(folder)).rejects.toThrow('is no plain file')
    await rm(join(folder.own, 'store.db'))
    await moveOut(folder)
    // Nested folders are its own up to the depth that a server makes.
    expect(readdirSync(join(home, 'audit')).toSorted()).toEqual(['d', 'records'])
    expect(readdirSync(join(home, 'audit/d/d/d'), { recursive: true }).toSorted()).toEqual([
      'd',
      'd/file',
      'file',
    ])
    expect(existsSync(join(home, 'modules'))).toBe(false)
    expect([statSync('/etc').uid, statSync('/etc').mode]).toEqual([etc.uid, etc.mode])
    expect([statSync(secret).mode & 0o777, readFileSync(secret, 'utf8')]).toEqual([0o640, 'secret'])
  })
})

test.runIf(!isRoot)('stays where it is for an ordinary user', async () => {
  await fill(home)
  await moveOut(folder)
  expect([contentOf(home), existsSync(folder.path)]).toEqual([all, false])
})

const all = { rows: 2, key: 'key', records: 'records', module: 'module' }

async function moveIntoOwn(place: ServerFolder, onStep?: () => void): Promise<void> {
  await moveIn(place, await openServerFolder(place), onStep)
}

/** The state after a server was killed: its last commit is not in the store yet, but beside it. */
async function fill(place: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'moves-'))
  {
    using store = open(scratch)
    store.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0')
    store.exec(
      'CREATE TABLE t (n); INSERT INTO t VALUES (1); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (2)',
    )
    for (const name of ['store.db', 'store.db-wal'])
      await writeFile(join(place, name), readFileSync(join(scratch, name)), { mode: 0o600 })
  }
  await rm(scratch, { recursive: true })
  await writeFile(join(place, 'store.key'), 'key', { mode: 0o600 })
  for (const name of ['audit', 'modules']) mkdirSync(join(place, name), { mode: 0o700 })
  await writeFile(join(place, 'audit', 'records'), 'records', { mode: 0o600 })
  await writeFile(join(place, 'modules', 'a.so'), 'module', { mode: 0o755 })
}

function open(place: string) {
  const store = new DatabaseSync(join(place, 'store.db'))
  return Object.assign(store, { [Symbol.dispose]: () => store.close() })
}

function contentOf(place: string) {
  using store = open(place)
  const rows = store.prepare('SELECT count(*) AS n FROM t').get()?.['n']
  const [key, records, module] = ['store.key', 'audit/records', 'modules/a.so'].map((name) =>
    readFileSync(join(place, name), 'utf8'),
  )
  return { rows, key, records, module }
}
