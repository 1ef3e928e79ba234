import { describe, expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import type { Party, Stall } from '../../support/stall.ts'
import {
  type Aftermath,
  countWrongs,
  describeAftermath,
  type Round,
  stallInUpgrades,
} from '../../support/stall-round.ts'

/** Longer than any pause or hold that ends only by its time. */
const SHORT_MS = 2_500

describe('a process that stalls in the middle of a handover and goes on later costs no write, and clients of the endpoint wait', () => {
  const pair = usualPair()
  const stall = (at: string, who: Party): Stall => ({ at, who, ms: SHORT_MS })
  const rounds: readonly Round[] = [
    {
      pair,
      groups: 1,
      stalls: [
        stall('before demote', 'server'),
        stall('before promote', 'server'),
        stall('before demote', 'primary'),
        stall('before promote', 'successor'),
        stall('after hold-endpoint', 'proxy'),
        // When the process goes on, orders that wait in it are older than the server's deadline.
        stall('before demote', 'agent'),
        stall('before promote', 'agent'),
      ],
    },
    {
      pair,
      groups: 3,
      stalls: [
        stall('before promote', 'server'),
        stall('before promote', 'successor'),
        stall('before promote', 'primary'),
        stall('before promote', 'agent'),
      ],
    },
  ]
  for (const round of rounds) {
    // A process is stopped for most of this time.
    // invariant: Certificates add up: no client waited for less time than writes were stopped.
    test.concurrent(`of a database of ${round.groups} group(s)`, { timeout: 200_000 }, async () => {
      const after = await stallInUpgrades(round)
      const context = describeAftermath(round, after)
      expect(countWrongs(after), context).toEqual({ endpoint: [0, 0], direct: [0, 0] })
      expect(certificatesThatDoNotAddUp(after)).toEqual([])
      expect(after.endpoint.report.errors, context).toEqual({})
      expect(after.endpoint.report.reconnects, context).toBe(0)
      expect(
        after.actions.map(({ status }) => status),
        context,
      ).toEqual(after.actions.map(() => 'completed'))
      expect(after.told, context).toEqual([])
    })
  }
})

// invariant: A primary that stalls during the promotion and resumes later costs no write.
describe('an old primary that hangs from before the promotion until it is ended costs no write, and the handover ends', () => {
  const pair = usualPair()
  for (const groups of [1, 3])
    test.concurrent(`of a database of ${groups} group(s)`, { timeout: 200_000 }, async () => {
      const stalls: readonly Stall[] = [{ at: 'before promote', who: 'primary', ms: 12_000 }]
      const round = { pair, groups, stalls, hungAfterSeconds: 2 }
      const after = await stallInUpgrades(round)
      const context = describeAftermath(round, after)
      expect(after.stalled, context).toHaveLength(1)
      expect(countWrongs(after), context).toEqual({ endpoint: [0, 0], direct: [0, 0] })
      expect(
        after.actions.map(({ status }) => status),
        context,
      ).toEqual(['completed'])
    })
})

/**
 * The successor branched off at the offset of the primary, and no client of the endpoint waited for less time
 * than writes were stopped.
 */
function certificatesThatDoNotAddUp({ actions }: Aftermath) {
  return actions
    .flatMap(({ certificates }) => certificates)
    .filter(
      ({ offset_from, offset_to, held_ms, write_stop_ms, recovered }) =>
        offset_from !== offset_to || (!recovered && held_ms !== null && held_ms < (write_stop_ms ?? 0)),
    )
}
