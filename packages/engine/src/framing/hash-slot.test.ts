import { expect, test } from 'vitest'
import { hashSlot } from './hash-slot.ts'

test.each([
  ['123456789', 0x31c3],
  ['foo', 12_182],
  ['user:{foo}:1', 12_182],
  ['{foo}{bar}', 12_182],
  ['', 0],
])('the slot of %j is the one that the engines compute', (key, slot) => {
  expect(hashSlot(Buffer.from(key))).toBe(slot)
})

test('an empty tag is none', () => {
  expect(hashSlot(Buffer.from('{}{foo}'))).not.toBe(hashSlot(Buffer.from('foo')))
  expect(hashSlot(Buffer.from('}foo{foo'))).not.toBe(hashSlot(Buffer.from('foo')))
})
