import { expect, test } from 'vitest'
import { nodesToSee } from './nodes-to-see.ts'

const at = (port: number, myself = false) => ({ myself, address: { host: '127.0.0.1', port } })
const records = [1, 2, 3].map((port) => ({ host: '127.0.0.1', port }))

test('all nodes of a cluster with a few strangers are looked at', () => {
  const nodes = [at(9), at(1), at(2, true), at(3), at(3), at(8)]
  expect(nodesToSee(nodes, records)).toHaveLength(6)
  expect(nodesToSee(nodes, records)).toEqual(expect.arrayContaining(nodes))
})

test('thousands of nodes that an engine makes up hide no shard, and few of them are looked at', () => {
  const strangers = Array.from({ length: 3_000 }, (_, n) => at(10_000 + n))
  const seen = nodesToSee([...strangers, at(1), at(2), at(3, true)], records)
  expect(seen.slice(0, 3)).toEqual([at(3, true), at(1), at(2)])
  expect(seen).toHaveLength(3 + 64)
})

test('thousands of nodes at the address of a shard are few, too', () => {
  const doubles = Array.from({ length: 3_000 }, () => at(1))
  expect(nodesToSee([at(2, true), ...doubles], records)).toHaveLength(1 + 4 * 3)
})
