import { expect, test } from 'vitest'
import { actionOf, ordersOf } from '../../test/action-of.ts'
import { fits, foundOf, foundOfDatabase } from './find-in-palette.ts'

const all = [
  { to: '/', kind: 'page', label: 'Overview' },
  ...foundOf(actionOf('window', { orders: ordersOf('rollback', 'finalize', 'pause') }), 'orders'),
  ...foundOf(actionOf('ended', { outcome: 'rolled_back' }), 'carts'),
  ...foundOf(actionOf('ready', { orders: ordersOf('cancel') }), 'billing'),
]
const found = (entered: string) => all.filter((one) => fits(entered, one)).map(({ label }) => label)
const upgrade = 'orders: redis 7.0.15 → valkey 8.1.1'
const back = 'orders: Roll back to redis 7.0.15…'
const running = 'billing: redis 7.0.15 → valkey 8.1.1'
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

test('what may be upgraded has its plan under that word, also after the name; a running upgrade has its page, and only last what ends it', () => {
  const here = [
    ...foundOf(actionOf('ready', { orders: ordersOf('cancel') }), 'billing'),
    ...foundOfDatabase({ uid: 1, name: 'carts' }, true),
    ...foundOfDatabase({ uid: 2, name: 'billing', action_uid: 'a' }, true),
    ...foundOfDatabase({ uid: 3, name: 'not-mine' }, false),
  ]
  const labels = (entered: string) => here.filter((one) => fits(entered, one)).map(({ label }) => label)
  expect(labels('upg')).toEqual([running, 'billing: Cancel the upgrade…', 'Upgrade carts…'])
  expect(labels('upgrade carts')).toEqual(['Upgrade carts…'])
  expect(labels('carts upgrade')).toEqual(['Upgrade carts…'])
  expect(labels('upgrade billing')).toEqual([running, 'billing: Cancel the upgrade…'])
})
