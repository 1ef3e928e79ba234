import { expect, test } from 'vitest'
import { readRedirect, runsScript } from './read-redirect.ts'

test.for([
  ['MOVED 5 127.0.0.1:7001\r', { kind: 'moved', slot: 5 }],
  ['MOVED 5 :7001\r', { kind: 'moved', slot: 5 }],
  ['MOVED 7 ::1:7001\r', { kind: 'moved', slot: 7 }],
  ['ASK 5 host.example:7001\r', { kind: 'ask', slot: 5 }],
  ['CLUSTERDOWN Hash slot not served\r', { kind: 'wait', slot: -1 }],
  ['TRYAGAIN Multiple keys request during rehashing of slot\r', { kind: 'wait', slot: -1 }],
  // A module that names its index first.
  ['MOVED 5 127.0.0.1:7001: no such index\r', null],
  ['MOVED 16384 127.0.0.1:7001\r', null],
  ['MOVED five 127.0.0.1:7001\r', null],
  ['LOADING the dataset is in memory soon\r', null],
] as const)('of an engine: %j', ([text, redirect]) => {
  expect(readRedirect(text, 5, true)).toEqual(redirect)
})

test.for([
  ['MOVED 5 127.0.0.1:7001\r', { kind: 'moved', slot: 5 }],
  ['MOVED 6 127.0.0.1:7001\r', null],
  ['CLUSTERDOWN Hash slot not served\r', null],
  ['TRYAGAIN Multiple keys request during rehashing of slot\r', null],
] as const)(
  'of a script or in a transaction, only an error about its own slot is examined: %j',
  ([text, redirect]) => {
    expect(readRedirect(text, 5, false)).toEqual(redirect)
    expect(readRedirect(text, -1, false)).toBe(null)
  },
)

test('scripts are known by the name of their command', () => {
  expect(['EVAL', 'EVALSHA_RO', 'FCALL', 'GET', 'SCRIPT'].map(runsScript)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})
