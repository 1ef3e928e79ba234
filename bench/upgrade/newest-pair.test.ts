import { expect, test } from 'vitest'
import { newestPair } from './newest-pair.ts'

test('the pair is the newest valkey, and the newest of the series before it', () => {
  const names = ['redis-8.0.2', 'valkey-9.1.2', 'valkey-8.0.1', 'valkey-9.1.10', 'valkey-8.1.1', 'README']
  expect(newestPair(names)).toEqual({ from: 'valkey-8.1.1', to: 'valkey-9.1.10' })
})

test('two builds of one series are no pair', () => {
  expect(() => newestPair(['valkey-8.1.1', 'valkey-8.1.2', 'redis-7.0.15'])).toThrow('two valkey series')
})
