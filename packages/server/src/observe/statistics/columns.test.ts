import { statisticsMetrics } from '@fairlead/api'
import { expect, test } from 'vitest'
import { columns, shown } from './columns.ts'

test('requests that neither read nor write are the others, and never fewer than none', () => {
  const others = (total_req: number) => shown('bdb', { total_req, read_req: 120, write_req: 30 })
  expect(others(200)).toMatchObject({ other_req: 50, other_res: 50, read_res: 120, write_res: 30 })
  expect(others(140)).toMatchObject({ other_req: 0 })
  expect(shown('bdb', { total_req: 200 })).not.toHaveProperty('other_req')
})

test.each(['bdb', 'shard', 'node'] as const)('every metric of a %s is answered, and no other', (kind) => {
  const all = shown(kind, Object.fromEntries(columns[kind].map((name) => [name, 1])))
  expect(Object.keys(all).toSorted()).toEqual(Object.keys(statisticsMetrics[kind]).toSorted())
})
