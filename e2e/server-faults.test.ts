import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts'
import { postgresHere } from '../packages/server/test/postgres-here.ts'
import { createChance } from '../proof/create-chance.ts'
import { usualPair } from '../proof/engine-pairs.ts'
import { type Blow, blows } from './strike.ts'
import { type Aftermath, type Round, returns, type Stroke, strikeInUpgrades } from './strike-round.ts'

let postgres: TestPostgres | undefined
beforeAll(async () => {
  if (postgresHere() !== null) postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

const pair = usualPair()
const alone = { nth: 1, back: 'fenced', agent: null, next: null } as const

describe.skipIf(postgresHere() === null)(
  'a server of several that is struck in the middle of an upgrade costs no write, there are never two primaries, and the upgrade ends',
  () => {
    const rounds: readonly Round[] = [
      {
        ...{ pair, groups: 1, servers: 3, isPatient: false },
        strokes: [
          // The struck server goes on as soon as another one has taken over, and still believes in its lease. The server that takes over is struck as well.
          { ...alone, at: 'before demote', how: 'stop', next: { nth: 4, how: 'kill' } },
        ],
      },
    ]
    for (const round of rounds) {
      const name = `${round.servers} servers, a database of ${round.groups} group(s)`
      test(name, { timeout: 240_000 }, async () => {
        const after = await strike(round)
        expect(after.struck, describeAftermath(round, after)).not.toContain('-')
        // Late work of the struck server was refused: by the store, or by the agent.
        expect(after.refused.length, describeAftermath(round, after)).toBeGreaterThan(0)
      })
    }
  },
)

/**
 * Every point of an upgrade × every kind of strike, with two servers and with three: STRIKE_EVERYTHING=1, about an hour, in an order that STRIKE_SEED
 * chooses. STRIKE_PART=2/4 does the second of four parts. STRIKE_PATIENT=1 waits until leases expire by themselves, which takes four times as long.
 */
const isForAll = process.env['STRIKE_EVERYTHING'] === '1' && postgresHere() !== null
describe.runIf(isForAll)('every blow, everywhere', () => {
  const seed = Number(process.env['STRIKE_SEED'] ?? Date.now() % 1_000_000)
  const [part = 1, parts = 1] = (process.env['STRIKE_PART'] ?? '1/1').split('/').map(Number)
  const mine = isForAll ? everything(seed).filter((_, n) => n % parts === part - 1) : []
  for (const [n, round] of mine.entries()) {
    const name = `${round.servers} servers, ${round.groups} group(s)`
    test(`seed ${seed}, ${n + 1} of ${mine.length}: ${name}`, { timeout: 900_000 }, async () => {
      const after = await strike(round)
      process.stderr.write(`${describeAftermath(round, after)}\n`)
    })
  }
})

function mustHave(there: TestPostgres | undefined): TestPostgres {
  if (there === undefined) throw new Error('there is no PostgreSQL')
  return there
}

/** The promises that must hold in every round. */
async function strike(round: Round): Promise<Aftermath> {
  const after = await strikeInUpgrades(mustHave(postgres), round)
  const context = describeAftermath(round, after)
  expect(after.twoPrimaries, context).toEqual([])
  for (const { verdict } of [after.endpoint, after.direct])
    expect([verdict.lost, verdict.duplicated], context).toEqual([0, 0])
  expect(after.endpoint.report.errors, context).toEqual({})
  expect(
    after.actions.map(({ status }) => status),
    context,
  ).toEqual(after.actions.map(() => 'completed'))
  return after
}

/** An upgrade of one group has about fifty points; a point that is not reached is reported. */
const MOST_POINTS = 52
const ofHandover = ['record-intent', 'hold-endpoint', 'pause', 'pause-longer', 'promote', 'switch-endpoint']

function everything(seed: number): readonly Round[] {
  const chance = createChance(seed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)] as T
  const points = {
    1: Array.from({ length: MOST_POINTS }, (_, n) => ({ at: '*', nth: n + 1 })),
    3: [...ofHandover, 'record-handover', 'unpause'].flatMap((name) =>
      ['before', 'after'].map((when) => ({ at: `${when} ${name}`, nth: pick([1, 2, 3]) })),
    ),
  }
  const isPatient = process.env['STRIKE_PATIENT'] === '1'
  return ([1, 3] as const).flatMap((groups) => {
    const strokes = points[groups].flatMap((point) => blows.map((how) => ({ ...point, how })))
    return inRounds(shuffle(strokes, chance), 6).map((some) => {
      const servers = pick([2, 3])
      return {
        ...{ pair, groups, servers, isPatient },
        strokes: some.map((one) => ({ ...one, ...chanceOf(servers, one.how, pick) })),
      }
    })
  })
}

/** What else happens in a strike. With two servers, only one is struck. */
function chanceOf(
  servers: number,
  how: Blow,
  pick: <T>(of: readonly T[]) => T,
): Pick<Stroke, 'back' | 'agent' | 'next'> {
  const signal = pick(['SIGKILL', 'SIGSTOP'] as const)
  const agent = { signal, ms: pick([300, 2_000, 4_000]) }
  const next = { nth: pick([1, 3, 6, 12]), how: pick(blows) }
  return {
    back: pick(returns),
    agent: pick([null, null, null, agent]),
    next: servers > 2 && how !== 'clock' ? pick([null, next]) : null,
  }
}

function nameOf({ at, nth, how, back, agent, next }: Stroke): string {
  const besides = agent === null ? '' : `, agent ${agent.signal} ${agent.ms} ms`
  const then = next === null ? '' : `, then ${next.how} at ${next.nth}`
  return `${how} ${at} ${nth}, back when ${back}${besides}${then}`
}

function describeAftermath(round: Round, after: Aftermath): string {
  const seen = ({ report: { errors, reconnects }, verdict }: Aftermath['direct']) =>
    JSON.stringify({ ...verdict, errors, reconnects })
  return [
    `${round.servers} servers, ${round.groups} group(s), refused: ${after.refused.join()}`,
    ...round.strokes.map((stroke, n) => `${nameOf(stroke)}: ${after.struck[n]}`),
    `endpoint ${seen(after.endpoint)}`,
    `direct ${seen(after.direct)}`,
    `${after.twoPrimaries.join()} ${after.actions.map(({ status, error, warnings }) => JSON.stringify({ status, error, warnings }))}`,
  ].join('\n  ')
}

function inRounds<T>(all: readonly T[], most: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, n) => all.slice(n * most, (n + 1) * most))
}

function shuffle<T>(items: readonly T[], chance: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: chance() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
