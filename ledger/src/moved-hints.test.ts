import { expect, test } from 'vitest'
import { createMovedHints, movedTo } from './moved-hints.ts'

const old = { host: 'a', port: 1 }
const successor = { host: 'a', port: 2 }

test('if the engine contradicts the API, the ledger follows the API for 250 ms, and then the engine', () => {
  const hints = createMovedHints(250)
  for (const nowMs of [1_000, 1_100, 1_240]) hints.heard(7, { at: old, moved: successor }, nowMs)
  expect(hints.settle(7, old, 1_250)).toEqual({ address: old, isHint: false })
  expect(hints.settle(7, null, 1_250)).toEqual({ address: null, isHint: false })
  expect(hints.settle(7, old, 1_251)).toEqual({ address: successor, isHint: true })
  expect(hints.settle(7, null, 1_251)).toEqual({ address: successor, isHint: true })
  expect(hints.settle(8, old, 1_251)).toEqual({ address: old, isHint: false })
})

test('a hint ends when the API says the same', () => {
  const hints = createMovedHints(250)
  hints.heard(7, { at: old, moved: successor }, 0)
  expect(hints.settle(7, successor, 300)).toEqual({ address: successor, isHint: false })
  expect(hints.settle(7, old, 900)).toEqual({ address: old, isHint: false })
})

test('a hint ends when there is trouble where it leads', () => {
  const hints = createMovedHints(250)
  hints.heard(7, { at: old, moved: successor }, 0)
  hints.heard(7, { at: old, moved: null }, 1)
  expect(hints.settle(7, null, 300)).toEqual({ address: successor, isHint: true })
  hints.heard(7, { at: successor, moved: null }, 301)
  expect(hints.settle(7, null, 302)).toEqual({ address: null, isHint: false })
})

test.each([
  ['MOVED 3999 127.0.0.1:7002', { host: '127.0.0.1', port: 7_002 }],
  ['MOVED 3999 :7002', { host: 'a', port: 7_002 }],
  ['MOVED 3999 ?:7002', { host: 'a', port: 7_002 }],
  ['MOVED 3999 ::1:7002', { host: '::1', port: 7_002 }],
  ['ASK 3999 127.0.0.1:7002', null],
  ['READONLY You cannot', null],
])('%j leads to %j', (text, address) => {
  expect(movedTo(text, old)).toEqual(address)
})
