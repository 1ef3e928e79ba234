import { expect, test } from 'vitest'
import { toYaml } from './to-yaml.ts'

test('text that could be read as something else is in quotes, and nothing is folded', () => {
  const long = 'a word '.repeat(40).trim()
  const value = {
    name: 'orders',
    engine_version: '8.10',
    paused: 'no',
    note: 'a: b\n# c',
    long,
    shards: [
      { uid: 1, modules: [] },
      { uid: 2, lag: null },
    ],
  }
  expect(toYaml(value)).toBe(
    [
      'name: orders',
      'engine_version: "8.10"',
      'paused: "no"',
      'note: |-',
      '  a: b',
      '  # c',
      `long: ${long}`,
      'shards:',
      '  - uid: 1',
      '    modules: []',
      '  - uid: 2',
      '    lag: null',
      '',
    ].join('\n'),
  )
})
