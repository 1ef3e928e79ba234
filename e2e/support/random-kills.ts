import { expect } from 'vitest'
import { createChance } from '../../proof/create-chance.ts'
import { pairsHere } from '../../proof/engine-pairs.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { killInUpgrade, type Round, victims } from './kill-round.ts'

/** Expects that nothing is executed twice, and lost only if a primary died and the loss is reported. */
export async function killAndJudge(fairlead: Fairlead, round: Round, name: string): Promise<void> {
  const context = `${name}: ${JSON.stringify(round)}`
  const after = await killInUpgrade(fairlead, round).catch((cause: Error) => {
    throw new Error(`${context}: ${cause.message}`, { cause })
  })
  const { action, killed, verdicts, told } = after
  const all = `${context}; killed ${killed.join(' and ')}; ${JSON.stringify(action)}`
  expect(
    verdicts.map(({ duplicated }) => duplicated),
    all,
  ).toEqual(verdicts.map(() => 0))
  const lost = Math.max(...verdicts.map((verdict) => verdict.lost))
  if (lost === 0) return
  // Only a primary that dies can lose writes; the successor may be the primary already.
  // Such a loss must be reported.
  expect(
    killed.some((name) => /^primary|^successor/.test(name)),
    `${lost} lost; ${all}`,
  ).toBe(true)
  expect(told, `${lost} lost without a report; ${all}`).not.toEqual([])
}

/** The rounds that a seed gives, one a call. */
export function roundsOf(from: number): () => Round {
  const chance = createChance(from)
  const pairs = pairsHere()
  return () => chooseRound(chance, pairs)
}

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
