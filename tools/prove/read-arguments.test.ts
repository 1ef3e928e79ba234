import { expect, test } from 'vitest'
import { Misused, readArguments } from './read-arguments.ts'

test('options may stand anywhere, and the other words are files', () => {
  expect(readArguments(['faults', '--profile', 'stalls', '--seed', '42', '--part', '2/4'])).toMatchObject({
    profile: 'stalls',
    seed: 42,
    part: 2,
    parts: 4,
    files: ['faults'],
  })
})

test('without options, a run is the whole of everything, with a seed to be drawn', () => {
  expect(readArguments([])).toMatchObject({ profile: null, seed: undefined, part: 1, parts: 1, files: [] })
})

test.for([
  [['--profile', 'stall']],
  [['--part', '5/4', '--seed', '1']],
  [['--part', '2']],
  [['--part', '2/4']],
  [['--seed', 'x']],
  [['--failed', '--seed', '1']],
  [['--fail']],
] as const)('%j is refused', ([args]) => {
  expect(() => readArguments(args)).toThrow(Misused)
})
