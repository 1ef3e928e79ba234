import { expect, test } from 'vitest'
import { readEndpoint, readShards } from './layout.ts'

const host = '127.0.0.1'
const url = 'http://api/v1/bdbs/1'

test('the primary is the first address of the first endpoint, whatever the slot', () => {
  const text = JSON.stringify({
    uid: 1,
    endpoints: [{ addr: ['10.0.0.1', '10.0.0.2'], port: 7001 }, { port: 1 }],
  })
  const layout = readEndpoint(url, text)
  expect(layout.groups).toHaveLength(1)
  expect([0, 9_000].map((slot) => layout.primaryOf(slot))).toEqual(
    Array(2).fill({ host: '10.0.0.1', port: 7001 }),
  )
})

test.each([
  '',
  'null',
  '<html>',
  '{"endpoints":[]}',
  '{"endpoints":[{"addr":[],"port":0}]}',
  '{"endpoints":[null]}',
])('an answer that names no endpoint (%j) is an error that says so', (text) => {
  expect(() => readEndpoint(url, text)).toThrow(`${url} names no endpoint`)
})

test('each slot has the primary whose ranges hold it, and groups go by their first slot', () => {
  const layout = layoutOf(
    shard('master', '8000-16383', 3),
    shard('slave', '0-4,10,7000-7999', 2),
    shard('master', '0-4,10,7000-7999', 1),
  )
  expect(layout.groups).toEqual(['0-4,10,7000-7999', '8000-16383'])
  const ports = [0, 4, 5, 10, 7_500, 8_000, 16_383].map((slot) => layout.primaryOf(slot)?.port ?? null)
  expect(ports).toEqual([1, 1, null, 1, 1, 3, 3])
  expect(layout.slotsAt({ host, port: 2 })).toEqual([
    [0, 4],
    [10, 10],
    [7_000, 7_999],
  ])
  expect(layout.slotsAt({ host, port: 9 })).toBeNull()
})

test('of two primaries of one slot the doubted one is skipped, but an only primary never is', () => {
  const both = layoutOf(shard('master', '0-16383', 1), shard('master', '0-16383', 2))
  expect(both.groups).toEqual(['0-16383'])
  expect(both.primaryOf(7, { host, port: 1 })?.port).toBe(2)
  expect(both.primaryOf(7, { host, port: 2 })?.port).toBe(1)
  const one = layoutOf(shard('master', '0-16383', 1))
  expect(one.primaryOf(7, { host, port: 1 })?.port).toBe(1)
})

test.each(['', '{}', '[]', '[null, 1]', JSON.stringify([shard('slave', '0-16383', 1)]), '[{"port":1}]'])(
  'an answer that names no primary (%j) is an error that says so',
  (text) => {
    expect(() => readShards(url, text)).toThrow(`${url} names no primary of any slot`)
  },
)

test.each(['5-1', '16384', '0-16384', 'a', '1-2-3', '1,'])('%j is no list of slots', (slots) => {
  const text = JSON.stringify([shard('master', slots, 1)])
  expect(() => readShards(url, text)).toThrow('names no primary of any slot')
})

function shard(role: string, assigned_slots: string, port: number) {
  return { uid: String(port), role, assigned_slots, port }
}

function layoutOf(...shards: readonly ReturnType<typeof shard>[]) {
  return readShards(url, JSON.stringify(shards))
}
