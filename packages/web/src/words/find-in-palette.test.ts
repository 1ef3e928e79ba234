import { expect, test } from 'vitest'
import { actionOf, ordersOf } from '../../test/action-of.ts'
import { fits, foundOf } from './find-in-palette.ts'

const all = [
  { to: '/', kind: 'page', label: 'Overview' },
  ...foundOf(actionOf('window', { orders: ordersOf('rollback', 'finalize', 'pause') }), 'orders'),
  ...foundOf(actionOf('ended', { outcome: 'rolled_back' }), 'carts'),
  ...foundOf(actionOf('ready', { orders: ordersOf('cancel') }), 'billing'),
]
const found = (entered: string) => all.filter((one) => fits(entered, one)).map(({ label }) => label)
const upgrade = 'orders: redis 7.0.15 → valkey 8.1.1'
const back = 'orders: Roll back to redis 7.0.15…'
const stay = 'orders: Finalize: stay on valkey 8.1.1…'

test.each([
  ['or', [upgrade, 'orders: Pause…', back, stay]],
  ['roll', [back]],
  ['final', [stay]],
  ['pause', ['orders: Pause…']],
  ['ROLL orders', [back]],
  ['over', ['Overview']],
  ['carts', ['carts: redis 7.0.15 → valkey 8.1.1']],
  ['resume', []],
  ['page', ['Overview']],
])('%s finds pages, actions, and the orders that may be given now', (entered, labels) => {
  expect(found(entered)).toEqual(labels)
})
