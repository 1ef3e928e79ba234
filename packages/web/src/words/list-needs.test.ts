import type { Database, LogEntry } from '@fairlead/api'
import { expect, test } from 'vitest'
import { actionOf, NOW, waiting } from '../../test/action-of.ts'
import { clockTime, zoneAt } from './format.ts'
import { listNeeds } from './list-needs.ts'

const now = Date.parse(NOW)
const later = (ms: number) => new Date(now + ms).toISOString()
const needs = (window_ends: string | null, since = NOW) =>
  listNeeds(
    {
      databases: [],
      actions: [actionOf('window', { window_ends, waiting: { ...waiting, since } })],
      losses: [],
      nameOf: () => 'orders',
    },
    now,
  )

test('a window that only a person ends is listed at once, with what to do', () => {
  expect(needs(null, later(-180_000))).toMatchObject([
    {
      name: 'orders',
      mark: { tone: 'wait' },
      why: 'The way back to redis 7.0.15 has been open for 3 min, and stays open until a person decides: finalize to stay, or roll back',
    },
  ])
})

test('a window that ends by itself is listed in its last hour, with the moment and its zone', () => {
  const ends = later(872_000)
  const [need] = needs(ends)
  expect(need?.why).toBe(
    `The way back to redis 7.0.15 ends at ${clockTime(ends, now)} ${zoneAt(now)}, in 14:32: roll back before that, or do nothing to stay`,
  )
  expect(needs(later(7_200_000))).toEqual([])
  expect(needs(later(7_200_000), later(-90_000_000)), 'it is open for more than a day').toHaveLength(1)
})

test('a failed upgrade is listed with the cause, after what it means for the database', () => {
  const failed = actionOf('ended', { outcome: 'failed', ended_time: NOW, error: 'no such file' })
  const [need] = listNeeds({ databases: [], actions: [failed], losses: [], nameOf: () => 'orders' }, now)
  expect(need?.why).toBe('The database is as it was before. The cause: no such file')
})

test('a primary that was replaced is listed before what only waits, with its record, until its database is deleted', () => {
  const loss = {
    uid: 41,
    type: 'bdb_primary_replaced',
    bdb_uid: '1',
    recorded_at: NOW,
    details: { shard: '2', instead_of: '1', lost_bytes: '0' },
  } as unknown as LogEntry
  const orders = { uid: 1, name: 'orders', status: 'active' } as Database
  const known = { actions: [actionOf('ready', { waiting })], losses: [loss], nameOf: () => 'orders' }
  const [first, second] = listNeeds({ ...known, databases: [orders] }, now)
  expect(first).toMatchObject({
    name: 'orders',
    to: '/databases/1',
    loss: { database: 1, record: 41 },
    mark: { tone: 'bad' },
  })
  expect(first?.why).toContain('Shard 2 took the place of shard 1')
  expect(second).not.toHaveProperty('loss')
  expect(listNeeds({ ...known, databases: [] }, now)).toHaveLength(1)
})
