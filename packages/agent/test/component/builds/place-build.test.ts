import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { placeBuild } from '../../../src/builds/place-build.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'place-build-'))
  await makeBuild('.work/build', 'echo "Valkey server v=8.1.1 sha=new"')
})
afterEach(() => rm(home, { recursive: true }))

async function makeBuild(name: string, text: string): Promise<void> {
  const bin = join(home, name, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'valkey-server'), `#!/bin/sh\n${text}\n`)
  await chmod(join(bin, 'valkey-server'), 0o755)
}

const place = (replace = false) =>
  placeBuild({
    replace,
    folder: home,
    flavour: 'valkey',
    version: '8.1.1',
    made: join(home, '.work/build'),
    aside: join(home, '.work/aside'),
  })
const placed = () => readFile(join(home, 'valkey-8.1.1/bin/valkey-server'), 'utf8')

test('a build goes to its place', async () => {
  expect((await place()).program).toBe(join(home, 'valkey-8.1.1/bin/valkey-server'))
  expect(await placed()).toContain('sha=new')
})

test('a build that works there already stays: it may be running', async () => {
  await makeBuild('valkey-8.1.1', 'echo "Valkey server v=8.1.1 sha=old"')
  await place()
  expect(await placed()).toContain('sha=old')
})

test('a build with known holes is replaced, and processes that run it keep its files', async () => {
  await makeBuild('valkey-8.1.1', 'echo "Valkey server v=8.1.1 sha=old"')
  await using running = await open(join(home, 'valkey-8.1.1/bin/valkey-server'))
  await place(true)
  expect(await placed()).toContain('sha=new')
  expect(await running.readFile('utf8')).toContain('sha=old')
})

test('a broken build of the same name is replaced', async () => {
  await makeBuild('valkey-8.1.1', 'exit 127')
  await place()
  expect(await placed()).toContain('sha=new')
})

test('a file of the same name is replaced', async () => {
  await writeFile(join(home, 'valkey-8.1.1'), '')
  await place()
  expect(await placed()).toContain('sha=new')
})

test('a build that does not start in its place is reported', async () => {
  await makeBuild('.work/build', 'exit 127')
  await expect(place()).rejects.toMatchObject({ name: 'FetchError', fault: 'does_not_start' })
  expect(await readdir(join(home, 'valkey-8.1.1'))).toEqual(['bin'])
})
