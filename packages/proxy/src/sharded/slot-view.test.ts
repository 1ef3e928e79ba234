import { readClusterNodes } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { decideFollow, leavingTo, ownerIn, type SlotView } from './slot-view.ts'

const at = (port: number) => ({ host: '127.0.0.1', port })
const node = (port: number, flags: string, slots: string) =>
  `${String(port).padEnd(40, '0')} 127.0.0.1:${port}@${port + 1},,shard-id=1 ${flags} ${flags.includes('slave') ? 'x' : '-'} 0 0 1 connected ${slots}`.trim()

/** The view of 7002, the successor of the second group, which has taken over. */
function viewOf(...lines: readonly string[]): SlotView {
  return { asked: at(7002), nodes: readClusterNodes(lines.join('\n')) }
}
const taken = viewOf(
  node(7000, 'master', '0-5460'),
  node(7001, 'slave', ''),
  node(7002, 'myself,master', '5461-10922'),
  node(7003, 'master', '10923-16383'),
)
const slots = new Uint16Array(16_384)
slots.fill(1, 5_461, 10_923)
slots.fill(2, 10_923)
const ours = {
  primaries: [at(7000), at(7001), at(7003)],
  known: [at(7000), at(7001), at(7002), at(7003)],
  slots,
}

test('a slot is at the primary that holds it, and the asked engine is at the address where it was asked', () => {
  expect(ownerIn(taken, 5_460)).toEqual(at(7000))
  expect(ownerIn(taken, 5_461)).toEqual(at(7002))
  expect(ownerIn(viewOf(node(7000, 'master', '0-10')), 11)).toBe(null)
  const alone: SlotView = {
    asked: at(7002),
    nodes: readClusterNodes('aa :9@10 myself,master - 0 0 1 connected 5'),
  }
  expect(ownerIn(alone, 5)).toEqual(at(7002))
})

test('only the asked engine itself says where keys go that have left its slot', () => {
  const id = '7000'.padEnd(40, '0')
  const leaving = viewOf(
    node(7000, 'master', '0-5460'),
    node(7002, 'myself,master', `5461-10922 [5500->-${id}]`),
  )
  expect(leavingTo(leaving, 5_500)).toEqual(at(7000))
  expect(leavingTo(leaving, 5_501)).toBe(null)
  const heard = viewOf(node(7000, 'master', '0-5460'), node(7003, 'master', `10923-16383 [11000->-${id}]`))
  expect(leavingTo(heard, 11_000)).toBe(null)
})

test('when a successor has taken over, its whole group moves to it', () => {
  expect(decideFollow({ slot: 6_000, owner: at(7002), view: taken }, ours)).toEqual({
    kind: 'group',
    group: 1,
  })
})

test('a slot that moved to the primary of another group goes there alone', () => {
  const view: SlotView = {
    asked: at(7000),
    nodes: readClusterNodes(
      [node(7000, 'myself,master', '0-5460 6000'), node(7001, 'master', '5461-5999 6001-10922')].join('\n'),
    ),
  }
  expect(decideFollow({ slot: 6_000, owner: at(7000), view }, ours)).toEqual({ kind: 'slot', group: 0 })
})

test.for([
  ['the engine does not say so itself', 6_000, at(7003), ours, 'does not say so'],
  [
    'it was not given for the database',
    6_000,
    at(7002),
    { ...ours, known: [at(7000)] },
    'no shard of this database',
  ],
] as const)('nothing is followed when %s', ([, slot, owner, known, why]) => {
  expect(decideFollow({ slot, owner, view: taken }, known)).toEqual({
    kind: 'no',
    why: expect.stringContaining(why),
  })
})

test('a group is not taken from a primary that still holds slots', () => {
  const torn = viewOf(node(7001, 'master', '7000-10922'), node(7002, 'myself,master', '5461-6999'))
  expect(decideFollow({ slot: 6_000, owner: at(7002), view: torn }, ours)).toMatchObject({ kind: 'no' })
})
