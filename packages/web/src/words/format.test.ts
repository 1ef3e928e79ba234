import { expect, test } from 'vitest'
import {
  aboutMilliseconds,
  ago,
  bytes,
  clockTime,
  countdown,
  deadline,
  duration,
  elapsed,
  fullTime,
  milliseconds,
  sayZone,
  short,
  zoneAt,
} from './format.ts'

test('numbers are as long as they say something', () => {
  expect([0, 1_023, 1_536, 97 * 2 ** 20, 21.3 * 2 ** 30].map(bytes)).toEqual([
    ...['0 B', '1023 B', '1.5 KiB', '97 MiB', '21.3 GiB'],
  ])
  expect([0.02, 2.853, 5, 12.83, 106.4].map(milliseconds)).toEqual([
    ...['0.02 ms', '2.85 ms', '5.00 ms', '12.8 ms', '106 ms'],
  ])
  expect([0.02, 5, 30, 71.4, 120].map(aboutMilliseconds)).toEqual([
    ...['0.02 ms', '5 ms', '30 ms', '71.4 ms', '120 ms'],
  ])
  expect([0, 4.26, 940, 20_120, 1_900_000].map(short)).toEqual(['0', '4.3', '940', '20.1 k', '1.9 M'])
})

test('a time that passes is in whole seconds, and one that has passed as exact as it was measured', () => {
  expect([392, 2_340, 41_300, 720_000, 5_400_000, 518_400_000].map(duration)).toEqual([
    ...['392 ms', '2.3 s', '41 s', '12 min', '1.5 h', '6 d'],
  ])
  expect([827, 2_340, 41_300].map(elapsed)).toEqual(['0 s', '2 s', '41 s'])
  expect([872_400, 4_000_000, 518_400_000, -5].map(countdown)).toEqual(['14:32', '1:06:40', '6 d', '00:00'])
  expect(ago(10_000, 11_000)).toBe('now')
  expect(ago('2026-11-26T07:00:00Z', Date.parse('2026-11-26T07:03:00Z'))).toBe('3 min ago')
})

test('a time that is an instruction has its zone, which is that of the day it speaks of', () => {
  const [summer, winter] = ['2026-07-01T10:00:00Z', '2026-11-26T10:00:00Z']
  expect([summer, winter].map((iso) => zoneAt(Date.parse(iso), 'Europe/Berlin'))).toEqual(['CEST', 'CET'])
  const now = Date.parse(winter)
  expect(deadline(winter, now)).toBe(`${clockTime(winter, now)} ${zoneAt(now)}`)
  expect(fullTime(winter)).toMatch(/^26 Nov 2026, \d\d:00:00 \S+$/)
  expect(fullTime('soon')).toBe('soon')
  expect(sayZone(now, 'Europe/Berlin')).toBe('Europe/Berlin (CET)')
  expect(sayZone(now, 'UTC')).toBe('UTC')
})
