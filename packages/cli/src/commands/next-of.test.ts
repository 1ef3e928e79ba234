import { expect, test } from 'vitest'
import { nextOf } from './next-of.ts'

type Asked = Parameters<typeof nextOf>[0]

const names = ['pause', 'resume', 'cancel', 'retry', 'finalize', 'rollback', 'redo'] as const
const orders = Object.fromEntries(names.map((name) => [name, { ok: name !== 'redo' }])) as Asked['orders']

function next(phase: Asked['phase'], hold_reason: NonNullable<Asked['waiting']>['hold_reason']) {
  return nextOf({ phase, waiting: { hold_reason }, orders, bdb_uid: 1 } as Asked, 'orders')
}

test('an open window ends by a rollback or for good, but not while a shard is in trouble', () => {
  const both = ['fairlead actions rollback orders', 'fairlead actions finalize orders']
  expect(next('window', 'rollback_window')).toEqual(both)
  expect(next('window', 'until_finalized')).toEqual(both)
  expect(next('window', 'shard_hung')).toEqual(['fairlead actions show orders'])
})

test('what is stuck names its way out, and what waits for a person goes on', () => {
  expect(next('stuck', 'memory_size')).toEqual(['fairlead actions retry orders'])
  expect(next('paused', null)).toEqual(['fairlead actions resume orders'])
  expect(next('ready', null)).toEqual(['fairlead actions resume orders'])
})
