import { expect, test } from 'vitest'
import { nameOfCluster } from './name-of-cluster.ts'

test('a cluster is called by its name, and by its address where it has none', () => {
  expect(nameOfCluster('prod.example.org', 'db.example:8443')).toBe('prod.example.org')
  for (const none of [undefined, '', 'fairlead'])
    expect(nameOfCluster(none, '127.0.0.1:8080')).toBe('127.0.0.1:8080')
})
