import { chmod, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testModule } from '../../../proof/modules/build-modules.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'build modules '))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

test('two that build the same module at once get one file, and nothing else is left', async () => {
  const paths = await Promise.all([testModule('1.0.0', folder), testModule('1.0.0', folder)])
  expect(paths).toEqual([join(folder, 'tally-1.0.0.so'), join(folder, 'tally-1.0.0.so')])
  expect(await readdir(folder)).toEqual(['tally-1.0.0.so'])
})

test('a module is built again only when its source is newer', async () => {
  const path = await testModule('1.0.0', folder)
  const { ino } = await stat(path)
  await testModule('1.0.0', folder)
  expect((await stat(path)).ino).toBe(ino)

  await utimes(path, 0, 0)
  await testModule('1.0.0', folder)
  expect((await stat(path)).mtimeMs).toBeGreaterThan(0)
})

test('without a compiler the error says what to install', async () => {
  vi.stubEnv('PATH', folder)
  await expect(testModule('1.0.0', folder)).rejects.toThrow('install gcc and libc6-dev')
})

test('without the headers of the C library, too', async () => {
  const gcc = join(folder, 'gcc')
  await writeFile(gcc, '#!/bin/sh\necho "tally.c:1: fatal error: stdlib.h: No such file" >&2\nexit 1\n')
  await chmod(gcc, 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
  await expect(testModule('1.0.0', folder)).rejects.toThrow('without the C library')
  expect(await readdir(folder)).toEqual(['gcc'])
})
