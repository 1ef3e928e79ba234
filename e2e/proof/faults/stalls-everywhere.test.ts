import { describe, expect, test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { createChance, inRounds, shuffle } from '../../../proof/create-chance.ts'
import { pairsHere, usualPair } from '../../../proof/engine-pairs.ts'
import { parties } from '../../support/stall.ts'
import { countWrongs, describeAftermath, type Round, stallInUpgrades } from '../../support/stall-round.ts'

const { seed, has } = campaign()
/** A process that is silent for longer is ended. */
const HUNG_MS = 10_000

describe('every process of a handover stops for a while before and after each effect, and no write is lost without a report', () => {
  for (const [n, round] of allRounds().entries()) {
    if (!has('stalls', n)) continue
    const name = round.stalls.map(({ at, who, ms }) => `${who} ${at} ${ms / 1_000} s`).join(', ')
    test(`round ${n}, ${round.groups} group(s): ${name}`, { timeout: 900_000 }, async () => {
      const after = await stallInUpgrades(round)
      const context = describeAftermath(round, after)
      const { endpoint, direct } = countWrongs(after)
      expect([endpoint[1], direct[1]], context).toEqual([0, 0])
      const isShort = round.stalls.every(({ ms }) => ms < HUNG_MS)
      // A process that is killed for its silence loses the writes that it had not sent, and that is reported.
      if (isShort || after.told.length === 0) expect([endpoint[0], direct[0]], context).toEqual([0, 0])
      if (isShort) expect(after.endpoint.report.errors, context).toEqual({})
    })
  }
})

/** Every process × before and after each effect × both modes, in an order that the seed chooses. */
function allRounds(): readonly Round[] {
  const chance = createChance(seed)
  const pairs = pairsHere()
  return [1, 3].flatMap((groups) => {
    const points = effectsOf(groups).flatMap((name) => [`before ${name}`, `after ${name}`])
    const short = points.flatMap((at) => parties.map((who) => ({ at, who, ms: 3_000 })))
    const long = points
      .filter((at) => /demote|pause-longer|promote/.test(at))
      .flatMap((at) => (['server', 'successor', 'primary'] as const).map((who) => ({ at, who, ms: 13_000 })))
    return [...inRounds(shuffle(short, chance), 9), ...inRounds(shuffle(long, chance), 4)].map((stalls) => ({
      groups,
      stalls,
      pair: pairs[Math.floor(chance() * pairs.length)] ?? usualPair(),
    }))
  })
}

function effectsOf(groups: number): readonly string[] {
  return [
    ...['record-intent', 'hold-endpoint', 'pause'],
    ...(groups === 1 ? ['demote'] : ['pause-longer']),
    ...['promote', 'switch-endpoint', 'unpause', 'record-handover'],
  ]
}
