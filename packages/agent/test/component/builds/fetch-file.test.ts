import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FetchError } from '../../../src/builds/fetch-error.ts'
import { type FileRequest, fetchFile } from '../../../src/builds/fetch-file.ts'

const hasApt = existsSync('/usr/bin/apt-get')
/** Keys that are not in use any more, from the same Debian package as the current ones. */
const oldKeys = '/usr/share/keyrings/debian-archive-removed-keys.gpg'
/** Of a small package. */
const path = 'usr/share/doc/redis-redisearch/copyright'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fetch file '))
})
afterEach(() => rm(folder, { recursive: true }))

/** Null when it was fetched. */
async function faultOf(request: Partial<FileRequest>): Promise<FetchError | null> {
  try {
    const to = join(folder, 'it')
    await fetchFile({ suite: 'bookworm', packageName: 'redis-redisearch', path, to, ...request })
    return null
  } catch (cause) {
    if (cause instanceof FetchError) return cause
    throw cause
  }
}

test('a machine without apt cannot fetch', async () => {
  expect((await faultOf({ env: { PATH: folder } }))?.fault).toBe('no_apt')
  expect(await readdir(folder)).toEqual([])
})

test.runIf(hasApt)(
  'a fetched file replaces the file that was there, is executable, and is the only file that is left',
  async ({ skip }) => {
    await writeFile(join(folder, 'it'), 'older')
    const fault = await faultOf({})
    if (fault?.fault === 'unreachable') skip(fault.message)
    expect(fault).toBe(null)
    expect(await readdir(folder)).toEqual(['it'])
    expect(await readFile(join(folder, 'it'), 'utf8')).toContain('AGPL-3')
    expect((await stat(join(folder, 'it'))).mode & 0o777).toBe(0o755)
  },
)

test.runIf(hasApt)('a package or a file that is not there is a bad request', async ({ skip }) => {
  const noPackage = await faultOf({ packageName: 'redis-of-nobody' })
  if (noPackage?.fault === 'unreachable') skip(noPackage.message)
  expect(noPackage?.message).toBe('bookworm offers no redis-of-nobody')
  const noFile = await faultOf({ path: 'usr/lib/none.so' })
  expect(noFile?.message).toBe('the package redis-redisearch of bookworm has no file usr/lib/none.so')
  expect([noPackage?.fault, noFile?.fault]).toEqual(['bad_request', 'bad_request'])
  expect(await readdir(folder)).toEqual([])
})

test.runIf(existsSync(oldKeys))('a package that is signed with other keys is refused', async ({ skip }) => {
  const fault = await faultOf({ keyring: oldKeys })
  if (fault?.fault === 'unreachable') skip(fault.message)
  expect(fault?.fault).toBe('unsigned')
  expect(await readdir(folder)).toEqual([])
})
