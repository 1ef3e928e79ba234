import { expect, test } from 'vitest'
import { lackOfPorts } from './lack-of-ports.ts'

const range = { from: 10_000, to: 10_009 }

test('there is room as long as the range, both ends included, has enough free ports', () => {
  expect(lackOfPorts(10, range, 0)).toBeUndefined()
  expect(lackOfPorts(8, range, 2)).toBeUndefined()
  expect(lackOfPorts(9, range, 2)).toBe(
    '9 port(s) are needed and 8 of 10000 to 10009 are free (FAIRLEAD_PORT_RANGE)',
  )
})
