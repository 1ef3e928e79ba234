import { expect, test } from 'vitest'
import { encodingsSet } from './read-encodings.ts'

test('of the settings made at run time, those that act while data is loaded are given to a new process, as numbers', () => {
  const baseline = { 'hash-max-ziplist-entries': '512', 'list-max-ziplist-size': '-2', hz: '10' }
  const now = { ...baseline, 'hash-max-ziplist-entries': '2000', 'list-max-ziplist-size': '-3', hz: '50' }
  expect(encodingsSet(now, baseline)).toEqual({
    'hash-max-ziplist-entries': 2000,
    'list-max-ziplist-size': -3,
  })
  expect(encodingsSet(baseline, baseline)).toEqual({})
  // An engine may answer anything.
  expect(encodingsSet({ 'hash-max-ziplist-entries': '1\nloadmodule /x' }, baseline)).toEqual({})
})
