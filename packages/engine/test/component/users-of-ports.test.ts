import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { knowUsersOfPorts, usersOf } from '../../src/users-of-ports.ts'

const address = { host: '127.0.0.1', port: 1_234 }

test('a table is used for as long as an agent confirms it; one that cannot be parsed is ignored', async () => {
  await using folder = await makeFolder()
  const file = join(folder.path, 'users.json')
  using known = knowUsersOfPorts(file)
  expect(usersOf(address)).toEqual([])
  await writeFile(file, JSON.stringify({ '127.0.0.1:1234': [6, 7] }))
  expect(usersOf(address)).toEqual([6, 7])
  // A shard of another node of this machine.
  expect(usersOf({ ...address, host: '127.0.0.2' })).toEqual([])
  const longAgo = Date.now() / 1_000 - 10
  await utimes(file, longAgo, longAgo)
  expect(usersOf(address)).toEqual([])
  const now = Date.now() / 1_000
  await utimes(file, now, now)
  expect(usersOf(address)).toEqual([6, 7])
  await utimes(file, now + 60, now + 60)
  expect(usersOf(address)).toEqual([])
  await writeFile(file, '{"127.0.0.1')
  expect(usersOf(address)).toEqual([])
  await writeFile(file, JSON.stringify({ '127.0.0.1:1234': [8] }))
  expect(usersOf(address)).toEqual([8])
  known[Symbol.dispose]()
  expect(usersOf(address)).toEqual([])
})

async function makeFolder() {
  const path = await mkdtemp(join(tmpdir(), 'users-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}
