import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { unpackBuild } from '../../../src/builds/unpack-build.ts'

const offer = { flavour: 'valkey', version: '8.1.1', debianVersion: '8.1.1-1', suite: 'trixie' }

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'unpack-build-'))
  await mkdir(join(home, 'debs'))
})
afterEach(() => rm(home, { recursive: true }))

const unpack = () =>
  unpackBuild({ debs: join(home, 'debs'), root: join(home, 'root'), to: join(home, 'build'), offer })

/** A package made by Debian's own tool. */
async function makeDeb(files: Readonly<Record<string, string>>): Promise<string> {
  const tree = join(home, 'tree')
  await mkdir(join(tree, 'DEBIAN'), { recursive: true })
  await mkdir(join(tree, 'usr/bin'), { recursive: true })
  const control = 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: x\n'
  await writeFile(join(tree, 'DEBIAN/control'), control)
  for (const [path, content] of Object.entries(files)) await writeFile(join(tree, path), content)
  const deb = join(home, 'debs/x_1_all.deb')
  await promisify(execFile)('dpkg-deb', ['--build', '--root-owner-group', tree, deb])
  return deb
}

test.each([0.9, 0.5, 0.1])(
  'a package of which only a part (%d) arrived is refused in one line',
  async (part) => {
    const deb = await makeDeb({ 'usr/bin/x': 'many words '.repeat(10_000) })
    await truncate(deb, Math.floor((await stat(deb)).size * part))
    await expect(unpack()).rejects.toMatchObject({
      name: 'FetchError',
      fault: 'damaged',
      message: expect.stringMatching(/^unpacking x_1_all\.deb: what arrived is damaged; try again \(.*\)$/),
    })
  },
)

test('a package without the server is refused by its name', async () => {
  await makeDeb({ 'usr/bin/valkey-cli': '' })
  await expect(unpack()).rejects.toMatchObject({
    fault: 'does_not_start',
    message: 'the package valkey-tools holds no valkey-server',
  })
})

test('packages without a C library make no build', async () => {
  await makeDeb({ 'usr/bin/valkey-check-rdb': '' })
  await expect(unpack()).rejects.toMatchObject({ fault: 'does_not_start' })
})
