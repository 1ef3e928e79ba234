import { expect, test } from 'vitest'
import { lackOfPorts } from './lack-of-ports.ts'

const range = { from: 10_000, to: 10_009 }

test('there is room as long as the range has as many free ports, both its ends included', () => {
  expect(lackOfPorts(10, range, [])).toBeUndefined()
  expect(lackOfPorts(8, range, [10_000, 10_009])).toBeUndefined()
  expect(lackOfPorts(9, range, [10_000, 10_009])).toBe(
    '9 port(s) are needed and 8 of 10000 to 10009 are free (FAIRLEAD_PORT_RANGE)',
  )
})

test('ports outside of the range, and one that is named twice, take nothing from it', () => {
  expect(lackOfPorts(9, range, [9_999, 10_010, 10_003, 10_003])).toBeUndefined()
})
