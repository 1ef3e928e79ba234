import { expect, test } from 'vitest'
import { obstacleToBusTls } from './builds-with-bus-tls.ts'

test('shards of redis before 7.0 cannot speak TLS to each other, those of all others can', () => {
  expect(obstacleToBusTls({ flavour: 'redis', version: '6.0.16' })).toContain('FAIRLEAD_SHARD_TLS=off')
  expect(obstacleToBusTls({ flavour: 'redis', version: '6.2.14' })).toContain('redis 6.2.14')
  for (const [flavour, version] of [
    ['redis', '7.0.15'],
    ['valkey', '8.0.1'],
    ['redict', '7.3.0'],
  ] as const)
    expect(obstacleToBusTls({ flavour, version })).toBeUndefined()
})
