import { expect, test } from 'vitest'
import { hashSlot } from './hash-slot.ts'

test.each([
  ['123456789', 0x31c3],
  ['foo', 12_182],
  ['user:{foo}:1', 12_182],
  ['', 0],
])('the slot of %j is the one that the engines compute', (key, slot) => {
  expect(hashSlot(key)).toBe(slot)
})

test('only the first tag counts, and an empty tag is no tag', () => {
  expect(hashSlot('{foo}{bar}')).toBe(hashSlot('foo'))
  expect(hashSlot('{}{foo}')).not.toBe(hashSlot('foo'))
  expect(hashSlot('}foo{foo')).not.toBe(hashSlot('foo'))
})
