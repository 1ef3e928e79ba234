import { describe, expect, test } from 'vitest'
import { createChance } from '../../../proof/create-chance.ts'
import { pairsHere, usualPair } from '../../../proof/engine-pairs.ts'
import { type Party, parties, type Stall } from '../../support/stall.ts'
import { type Aftermath, type Round, stallInUpgrades } from '../../support/stall-round.ts'

/** Longer than any pause or hold that ends only by its time. */
const SHORT_MS = 2_500

describe('a process that stalls in the middle of a handover and goes on later costs no write, and clients of the endpoint wait', () => {
  const pair = usualPair()
  const stall = (at: string, who: Party): Stall => ({ at, who, ms: SHORT_MS })
  const rounds: readonly Round[] = [
    {
      ...{ pair, groups: 1 },
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
      ...{ pair, groups: 3 },
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
    test.concurrent(`of a database of ${round.groups} group(s)`, { timeout: 200_000 }, async () => {
      const after = await stallInUpgrades(round)
      const context = describeAftermath(round, after)
      expect(wrongs(after), context).toEqual({ endpoint: [0, 0], direct: [0, 0] })
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

describe('an old primary that hangs from before the promotion until it is ended costs no write, and the handover ends', () => {
  const pair = usualPair()
  for (const groups of [1, 3])
    test.concurrent(`of a database of ${groups} group(s)`, { timeout: 200_000 }, async () => {
      const stalls: readonly Stall[] = [{ at: 'before promote', who: 'primary', ms: 12_000 }]
      const round = { pair, groups, stalls, hungAfterSeconds: 2 }
      const after = await stallInUpgrades(round)
      const context = describeAftermath(round, after)
      expect(after.stalled, context).toHaveLength(1)
      expect(wrongs(after), context).toEqual({ endpoint: [0, 0], direct: [0, 0] })
      expect(
        after.actions.map(({ status }) => status),
        context,
      ).toEqual(['completed'])
    })
})

/**
 * Every party × before and after each effect × both modes: STALL_EVERYTHING=1, about half an hour, in an
 * order that STALL_SEED chooses. STALL_PART=2/4 does the second of four parts.
 */
describe.runIf(process.env['STALL_EVERYTHING'] === '1')('every party, everywhere', () => {
  const seed = Number(process.env['STALL_SEED'] ?? Date.now() % 1_000_000)
  const [part = 1, parts = 1] = (process.env['STALL_PART'] ?? '1/1').split('/').map(Number)
  const all = everything(seed)
  const mine = all.filter((_, n) => n % parts === part - 1)
  for (const [n, round] of mine.entries()) {
    const name = round.stalls.map(({ at, who, ms }) => `${who} ${at} ${ms / 1_000} s`).join(', ')
    test(`seed ${seed}, ${n + 1} of ${mine.length}, ${round.groups} group(s): ${name}`, {
      timeout: 900_000,
    }, async () => {
      const after = await stallInUpgrades(round)
      const context = describeAftermath(round, after)
      process.stderr.write(`${context}\n`)
      const { endpoint, direct } = wrongs(after)
      expect([endpoint[1], direct[1]], context).toEqual([0, 0])
      const isShort = round.stalls.every(({ ms }) => ms < HUNG_MS)
      // A process that is killed for its silence loses the writes that it had not sent, and that is reported.
      if (isShort || after.told.length === 0) expect([endpoint[0], direct[0]], context).toEqual([0, 0])
      if (isShort) expect(after.endpoint.report.errors, context).toEqual({})
    })
  }
})

const HUNG_MS = 10_000

function everything(seed: number): readonly Round[] {
  const effects = (groups: number) => [
    ...['record-intent', 'hold-endpoint', 'pause'],
    ...(groups === 1 ? ['demote'] : ['pause-longer']),
    ...['promote', 'switch-endpoint', 'unpause', 'record-handover'],
  ]
  const chance = createChance(seed)
  const pairs = pairsHere()
  return [1, 3].flatMap((groups) => {
    const points = effects(groups).flatMap((name) => [`before ${name}`, `after ${name}`])
    const short = points.flatMap((at) => parties.map((who) => ({ at, who, ms: 3_000 })))
    const long = points
      .filter((at) => /demote|pause-longer|promote/.test(at))
      .flatMap((at) => (['server', 'successor', 'primary'] as const).map((who) => ({ at, who, ms: 13_000 })))
    return [...inRounds(shuffle(short, chance), 9), ...inRounds(shuffle(long, chance), 4)].map((stalls) => ({
      ...{ groups, stalls },
      pair: pairs[Math.floor(chance() * pairs.length)] ?? usualPair(),
    }))
  })
}

function inRounds(stalls: readonly Stall[], most: number): readonly (readonly Stall[])[] {
  return Array.from({ length: Math.ceil(stalls.length / most) }, (_, n) =>
    stalls.slice(n * most, (n + 1) * most),
  )
}

function shuffle<T>(items: readonly T[], chance: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: chance() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** The successor branched off at the offset of the primary, and no client of the endpoint waited for less time than writes were stopped. */
function certificatesThatDoNotAddUp({ actions }: Aftermath) {
  return actions
    .flatMap(({ certificates }) => certificates)
    .filter(
      ({ offset_from, offset_to, held_ms, write_stop_ms, recovered }) =>
        offset_from !== offset_to || (!recovered && held_ms !== null && held_ms < (write_stop_ms ?? 0)),
    )
}

/** The numbers of lost and of duplicated writes. */
function wrongs({ endpoint, direct }: Aftermath) {
  const of = ({ verdict }: Aftermath['direct']) => [verdict.lost, verdict.duplicated]
  return { endpoint: of(endpoint), direct: of(direct) }
}

function describeAftermath({ pair, groups }: Round, after: Aftermath): string {
  const { endpoint, direct, stalled, told, actions } = after
  const seen = ({ report, verdict }: Aftermath['direct']) =>
    JSON.stringify({
      ...verdict,
      errors: report.errors,
      reconnects: report.reconnects,
      longest: longestMs(report.gaps),
    })
  return [
    `${pair.from} to ${pair.to}, ${groups} group(s): ${stalled.join(', ')}`,
    `endpoint ${seen(endpoint)}`,
    `direct ${seen(direct)}`,
    `told ${told.join()}; ${actions.map(({ status, error, warnings }) => JSON.stringify({ status, error, warnings }))}`,
  ].join('\n  ')
}

function longestMs(gaps: readonly { readonly fromMs: number; readonly toMs: number }[]): number {
  return Math.round(Math.max(0, ...gaps.map(({ fromMs, toMs }) => toMs - fromMs)))
}
