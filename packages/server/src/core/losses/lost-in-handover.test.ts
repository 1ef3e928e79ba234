import { describe, expect, test } from 'vitest'
import { aloneFor, branchOf, lostInHandover } from './lost-in-handover.ts'

const equal = { offsetFrom: 500, offsetTo: 500 }
const resumed = { isSameProcess: true, alone: 0 }
const copiedAnew = { isSameProcess: true, alone: null }

test('a handover at one offset whose old primary resumed has lost nothing', () => {
  expect(lostInHandover(equal, resumed, true)).toBeUndefined()
  expect(lostInHandover(equal, null, true)).toBeUndefined()
})

// invariant: Losses in a handover are reported by offset.
test('a successor that branched off earlier lacks the bytes between', () => {
  expect(lostInHandover({ offsetFrom: 625_022, offsetTo: 570_597 }, copiedAnew, true)).toBe(54_425)
})

test('a successor that was restarted meanwhile does not know where it branched off, and no loss is reported for that', () => {
  const offsetTo = branchOf({ secondOffset: -1 })
  expect(offsetTo).toBeNull()
  expect(lostInHandover({ offsetFrom: 396_878, offsetTo }, null, false)).toBeUndefined()
  expect(lostInHandover({ offsetFrom: null, offsetTo }, resumed, true)).toBeUndefined()
  expect(branchOf({ secondOffset: 501 })).toBe(500)
})

test('an old primary that went on alone after a takeover has acknowledged writes that are lost', () => {
  expect(lostInHandover(equal, { isSameProcess: true, alone: 70 }, true)).toBe(70)
})

test('an old primary that could not resume after a takeover went on alone, for an unknown number of bytes', () => {
  expect(lostInHandover(equal, copiedAnew, true)).toBeNull()
})

test('a full sync is no loss if the old primary was demoted first, or if its process was restarted', () => {
  expect(lostInHandover(equal, copiedAnew, false)).toBeUndefined()
  expect(lostInHandover(equal, { ...copiedAnew, isSameProcess: false }, true)).toBeUndefined()
})

describe('an old primary', () => {
  /** It took over at offset 500 of history a. */
  const successor = { replid: 'b', replid2: 'a', secondOffset: 501 }

  test.each([
    ['that resumed the stream was not alone', { replid: 'b', replid2: 'a', offset: 900 }, 0],
    ['that is only slow to link was not alone', { replid: 'a', replid2: 'z', offset: 500 }, 0],
    ['that is not linked and wrote on was', { replid: 'a', replid2: 'z', offset: 570 }, 70],
    ['that copied everything anew may have been', { replid: 'b', replid2: '0', offset: 900 }, null],
    ['of another history may have been', { replid: 'c', replid2: 'a', offset: 500 }, null],
  ])('%s', (_, old, alone) => {
    expect(aloneFor(old, successor)).toBe(alone)
  })
})
