import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serverFolder } from '../../../src/server/server-folder.ts'
import { placeServer, type ServerProgram } from '../../../src/server/server-wall.ts'

let home: string
beforeEach(async () => {
  // Not /tmp: within a wall there is another /tmp.
  home = await mkdtemp('/var/tmp/fairlead-')
})
afterEach(() => rm(home, { recursive: true, force: true }))

const place = (other: Partial<ServerProgram> = {}) => {
  const server = { home, program: process.execPath, args: [], lowPorts: false, isWanted: true, shown: [] }
  return placeServer({ ...server, ...other })
}

test('no file that a server leaves in its folder makes the next server run as root', async (context) => {
  if (process.getuid?.() !== 0) return context.skip()
  await store(home)
  const first = await place()
  if (first.why !== undefined) return context.skip(first.why)
  const { own } = serverFolder(home)
  expect(existsSync(join(own, 'store.db'))).toBe(true)

  mkdirSync(join(own, 'looked'))
  expect((await place()).why).toBeUndefined()
  chmodSync(own, 0o000)
  expect((await place()).why).toBeUndefined()
  expect(statSync(own).mode & 0o777).toBe(0o700)
})

test('a server that had a user of its own does not run as root because a wall cannot be built, unless a person switches walls off', async (context) => {
  if (process.getuid?.() !== 0) return context.skip()
  await store(home)
  const first = await place()
  if (first.why !== undefined) return context.skip(first.why)
  const { own, path } = serverFolder(home)
  // Left behind by a check that was killed.
  for (const name of ['try-killed', 'try-now']) mkdirSync(join(path, name))
  utimesSync(join(path, 'try-killed'), new Date(0), new Date(0))

  rmSync(join(home, 'wall'), { recursive: true })
  writeFileSync(join(home, 'wall'), '')
  const tried = place()
  await pause(50)
  rmSync(join(home, 'wall'))
  expect((await tried).why).toBeUndefined()
  expect(readdirSync(path)).toEqual(expect.not.arrayContaining(['try-killed']))
  expect(readdirSync(path)).toContain('try-now')

  const code = await mkdtemp('/var/tmp/code-')
  using _ = { [Symbol.dispose]: () => rmSync(code, { recursive: true }) }
  const program = join(code, 'node')
  copyFileSync('/bin/sh', program)
  chmodSync(program, 0o700)
  await expect(place({ program })).rejects.toThrow(
    /is a user of its own, and cannot be now: other users cannot read .*; this opens it: chmod -R go\+rX .*FAIRLEAD_SERVER_WALL=off$/,
  )
  expect(existsSync(join(own, 'store.db'))).toBe(true)
  expect((await place({ program, isWanted: false })).why).toContain('is off')
  expect(existsSync(join(own, 'store.db'))).toBe(false)
})

async function store(folder: string): Promise<void> {
  await writeFile(join(folder, 'store.key'), 'key', { mode: 0o600 })
  const file = new DatabaseSync(join(folder, 'store.db'))
  file.exec('CREATE TABLE t (n)')
  file.close()
}
