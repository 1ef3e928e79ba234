import { expect, test } from 'vitest'
import { lostInHandover, tookFullSync } from './lost-in-handover.ts'

const equal = { offsetFrom: 500, offsetTo: 500 }
const resumed = { isSameProcess: true, tookFullSync: false }
const copiedAnew = { isSameProcess: true, tookFullSync: true }

test('a handover at one offset whose old primary resumed has lost nothing', () => {
  expect(lostInHandover(equal, resumed, true)).toBeUndefined()
  expect(lostInHandover(equal, null, true)).toBeUndefined()
})

test('an heir that branched off earlier lacks the bytes between', () => {
  expect(lostInHandover({ offsetFrom: 625_022, offsetTo: 570_597 }, copiedAnew, true)).toBe(54_425)
})

test('an old primary that could not resume after a takeover went on alone: how long, nobody knows', () => {
  expect(lostInHandover(equal, copiedAnew, true)).toBeNull()
})

test('a full sync is no loss where the old primary was demoted first, nor of a process that began anew', () => {
  expect(lostInHandover(equal, copiedAnew, false)).toBeUndefined()
  expect(lostInHandover(equal, { ...copiedAnew, isSameProcess: false }, true)).toBeUndefined()
})

test('an old primary that is not linked at the end could not resume: an older build cannot read what a newer one copies', () => {
  const heir = { replid2: 'a' }
  expect(tookFullSync({ link: 'up', replid2: 'a' }, heir)).toBe(false)
  expect(tookFullSync({ link: 'up', replid2: 'b' }, heir)).toBe(true)
  expect(tookFullSync({ link: 'down', replid2: 'a' }, heir)).toBe(true)
})
