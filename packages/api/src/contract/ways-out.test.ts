import { expect, test } from 'vitest'
import { type OrderName, orderWords } from './action-words.ts'
import type { HoldReason } from './hold-reasons.ts'
import { nextCommand, wayOutOfRest } from './ways-out.ts'

const names = Object.keys(orderWords) as readonly OrderName[]
const stuck = (
  reason: HoldReason,
  but: { readonly not?: readonly OrderName[]; readonly isMoved?: boolean } = {},
) => ({
  bdb_uid: 7,
  waiting: { hold_reason: reason },
  orders: Object.fromEntries(
    names.map((name) => [name, { ok: !(but.not ?? ['redo']).includes(name) }]),
  ) as Readonly<Record<OrderName, { readonly ok: boolean }>>,
  lanes: [{ handed_over: but.isMoved ?? false }],
})
const commandOf = (...of: Parameters<typeof stuck>) => nextCommand(stuck(...of), 'orders')?.command

test('of an action that is stuck, the next command is the one that its reason asks for', () => {
  expect(commandOf('save_failed')).toBe('fairlead actions retry orders')
  expect(commandOf('cannot_read')).toBe('fairlead actions cancel orders')
  expect(commandOf('cannot_read', { isMoved: true })).toBe('fairlead actions rollback orders')
  expect(commandOf('shard_hung')).toBe('fairlead api GET /v1/bdbs/7/shards')
  expect(nextCommand(stuck('order_late'), 'orders')).toEqual({
    command: 'fairlead actions retry orders',
    why: wayOutOfRest.why,
  })
})

test('an order that the server would refuse is not named', () => {
  expect(nextCommand(stuck('cannot_read', { not: ['cancel', 'redo'] }), 'orders')).toEqual({
    command: 'fairlead actions retry orders',
    why: wayOutOfRest.why,
  })
  expect(nextCommand(stuck('save_failed', { not: ['retry', 'redo'] }), 'orders')).toBeNull()
})

test('of a rollback that only a finalize ends, the next command is that', () => {
  expect(commandOf('cannot_read', { not: ['cancel', 'rollback'] })).toBe('fairlead actions finalize orders')
  expect(commandOf('cannot_read', { not: ['cancel', 'rollback', 'finalize'] })).toBe(
    'fairlead actions retry orders',
  )
})
