import { expect, test } from 'vitest'
import type { ActionsOnRecord } from '../turn/ports.ts'
import { shareQueue } from './shared-queue.ts'

type Listed = Awaited<ReturnType<ActionsOnRecord['listActive']>>[number]
const queued = (uid: string): Listed => ({
  uid,
  databaseUid: 1,
  kind: 'upgrade',
  status: 'queued',
  step: '',
  needsPerson: false,
  createdAt: '2026-11-23T12:00:00.000Z',
})

test('actions that wait share one read of the queue for a moment; an action that came after that read reads the queue itself', async () => {
  const active = [queued('a'), queued('b')]
  let reads = 0
  let now = 0
  const list = shareQueue(
    async () => {
      reads += 1
      return [...active]
    },
    () => now,
  )
  for (const uid of ['a', 'b', 'a']) expect(await list(uid)).toHaveLength(2)
  expect(reads).toBe(1)
  active.push(queued('c'))
  expect(await list('c')).toHaveLength(3)
  expect(await list('a')).toHaveLength(3)
  expect(reads).toBe(2)
  await list()
  expect(reads).toBe(3)
  now += 250
  await list('a')
  expect(reads).toBe(4)
})
