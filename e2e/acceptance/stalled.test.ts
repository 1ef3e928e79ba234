import { expect, test } from 'vitest'
import { usualPair } from '../../proof/engine-pairs.ts'
import type { Party, Stall } from '../support/stall.ts'
import { countWrongs, describeAftermath, type Round, stallInUpgrades } from '../support/stall-round.ts'

/** Longer than any pause or hold that ends only by its time. */
const stall = (at: string, who: Party): Stall => ({ at, who, ms: 2_500 })

/** Every effect and every party is in e2e/proof/faults. */
test('a process that stalls in the middle of a handover and goes on later costs no write, and clients only wait', {
  timeout: 200_000,
}, async () => {
  const stalls = [
    stall('before demote', 'server'),
    stall('before promote', 'successor'),
    stall('after hold-endpoint', 'proxy'),
  ]
  const round: Round = { pair: usualPair(), groups: 1, stalls }
  const after = await stallInUpgrades(round)
  const context = describeAftermath(round, after)
  expect(countWrongs(after), context).toEqual({ endpoint: [0, 0], direct: [0, 0] })
  expect(after.endpoint.report.errors, context).toEqual({})
  expect(after.endpoint.report.reconnects, context).toBe(0)
  const statuses = after.actions.map(({ status }) => status)
  expect(statuses, context).toEqual(statuses.map(() => 'completed'))
})
