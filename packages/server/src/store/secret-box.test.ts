import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSecretBox, readStoreKey } from './secret-box.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-key-'))
  file = join(folder, 'store.key')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a secret opens with the same key and for the same purpose only, and not when it was changed', () => {
  const box = createSecretBox(randomBytes(32))
  const sealed = box.seal('secret', 'here')
  expect(sealed).not.toContain('secret')
  expect(box.seal('secret', 'here')).not.toBe(sealed)
  expect(box.open(sealed, 'here')).toBe('secret')
  const swapped = sealed.replace(/.{8}$/, (end) => [...end].toReversed().join(''))
  for (const open of [
    () => box.open(sealed, 'there'),
    () => box.open(swapped, 'here'),
    () => box.open('v1:', 'here'),
    () => box.open('{"d":"x"}', 'here'),
    () => createSecretBox(randomBytes(32)).open(sealed, 'here'),
  ]) {
    expect(open).toThrow('FAIRLEAD_STORE_KEY')
  }
})

test('the key of the store is made once, for its owner', () => {
  const key = readStoreKey(file)
  expect([key.length, statSync(file).mode & 0o777]).toEqual([32, 0o600])
  expect(readStoreKey(file)).toEqual(key)
})

test('a key that others can read is refused with the fix, and so is what is no key', () => {
  readStoreKey(file)
  chmodSync(file, 0o640)
  expect(() => readStoreKey(file)).toThrow(/mode 640\); run chmod 600/)
  chmodSync(file, 0o600)
  writeFileSync(file, 'short')
  expect(() => readStoreKey(file)).toThrow('must be 32 bytes in base64')
})
