import { expect, test } from 'vitest'
import { createChance } from '../../../proof/create-chance.ts'
import { pairsHere } from '../../../proof/engine-pairs.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { killInUpgrade, type Round, victims } from '../../support/kill-round.ts'

/** KILL_SEED repeats the random choices of a run; KILL_SECONDS makes it longer. */
const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['KILL_SECONDS'] ?? 60)

test('whichever process is killed in an upgrade, whenever: one primary a group in the end, and no loss that is not reported', {
  timeout: (seconds + 300) * 1_000,
}, async () => {
  const chance = createChance(seed)
  const pairs = pairsHere()
  const deadline = performance.now() + seconds * 1_000
  await using fairlead = await startFairlead()
  for (let n = 0; performance.now() < deadline; n += 1) {
    const round = chooseRound(chance, pairs)
    const context = `seed ${seed}, round ${n}: ${JSON.stringify(round)}`
    const after = await killInUpgrade(fairlead, round).catch((cause: Error) => {
      throw new Error(`${context}: ${cause.message}`, { cause })
    })
    const { action, killed, verdicts, told } = after
    const all = `${context}; killed ${killed.join(' and ')}; ${JSON.stringify(action)}`
    if (process.env['KILL_SECONDS'] !== undefined)
      process.stderr.write(
        `${n} ${round.groups} ${killed.join('+')} ${action.status} lost ${verdicts.map(({ lost }) => lost)} told ${told.length}\n`,
      )
    expect(
      verdicts.map(({ duplicated }) => duplicated),
      all,
    ).toEqual(verdicts.map(() => 0))
    const lost = Math.max(...verdicts.map((verdict) => verdict.lost))
    if (lost === 0) continue
    // Only a primary that dies can lose writes, those not sent yet; the successor may be the primary already. Such a loss must be reported.
    expect(
      killed.some((name) => /^primary|^successor/.test(name)),
      `${lost} lost; ${all}`,
    ).toBe(true)
    expect(told, `${lost} lost without a report; ${all}`).not.toEqual([])
  }
})

function chooseRound(chance: () => number, pairs: ReturnType<typeof pairsHere>): Round {
  const among = (count: number) => Math.floor(chance() * count)
  const groups = chance() < 0.5 ? 1 : 3
  const pair = pairs[among(pairs.length)]
  const [first, second] = victims.toSorted(() => chance() - 0.5)
  if (pair === undefined || first === undefined || second === undefined) throw new Error('nothing to choose')
  return {
    pair,
    groups,
    preserveRoles: chance() < 0.3,
    group: among(groups),
    kill: chance() < 0.5 ? [first] : [first, second],
    afterMs: among(groups === 1 ? 1_500 : 5_000),
    awayMs: among(800),
  }
}
