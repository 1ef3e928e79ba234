import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { postgresHere } from '../../../packages/server/test/postgres-here.ts'
import { campaign } from '../../../proof/campaign.ts'
import { createChance, inRounds, shuffle } from '../../../proof/create-chance.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import {
  type Aftermath,
  injectInUpgrades,
  type PlannedFault,
  type Round,
  returns,
} from '../../support/fault-round.ts'
import { type FaultKind, faultKinds } from '../../support/server-fault.ts'

let postgres: TestPostgres | undefined
beforeAll(async () => {
  if (postgresHere() !== null) postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

const pair = usualPair()
const alone = { nth: 1, back: 'fenced', agent: null, next: null } as const

describe.skipIf(postgresHere() === null)(
  'a fault of one of several servers in the middle of an upgrade costs no write, there are never two primaries, and the upgrade ends',
  () => {
    const rounds: readonly Round[] = [
      {
        pair,
        groups: 1,
        servers: 3,
        isPatient: false,
        faults: [
          // The faulty server goes on as soon as another one has taken over, and still believes in its lease.
          // The server that takes over gets a fault as well.
          { ...alone, at: 'before demote', how: 'stop', next: { nth: 4, how: 'kill' } },
        ],
      },
    ]
    for (const round of rounds) {
      const name = `${round.servers} servers, a database of ${round.groups} group(s)`
      test(name, { timeout: 240_000 }, async () => {
        const after = await injectAll(round)
        expect(after.faulty, describeAftermath(round, after)).not.toContain('-')
        // Late work of the faulty server was refused: by the store, or by the agent.
        expect(after.refused.length, describeAftermath(round, after)).toBeGreaterThan(0)
      })
    }
  },
)

const isPatient = campaign().is('patient-server-faults')
describe.skipIf(postgresHere() === null)(
  'every fault at every point of an upgrade, with two servers and with three, costs no write, and the upgrade ends',
  () => {
    for (const [n, round] of allRounds(campaign().seed).entries()) {
      if (!campaign().has(isPatient ? 'patient-server-faults' : 'server-faults', n)) continue
      const name = `round ${n}: ${round.servers} servers, a database of ${round.groups} group(s)`
      test(name, { timeout: 900_000 }, async () => void (await injectAll(round)))
    }
  },
)

function mustHave(there: TestPostgres | undefined): TestPostgres {
  if (there === undefined) throw new Error('there is no PostgreSQL')
  return there
}

/** The promises that must hold in every round. */
async function injectAll(round: Round): Promise<Aftermath> {
  const after = await injectInUpgrades(mustHave(postgres), round)
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

/** Every point of an upgrade × every kind of fault, in an order that the seed chooses. */
function allRounds(seed: number): readonly Round[] {
  const chance = createChance(seed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)] as T
  const points = {
    1: Array.from({ length: MOST_POINTS }, (_, n) => ({ at: '*', nth: n + 1 })),
    3: [...ofHandover, 'record-handover', 'unpause'].flatMap((name) =>
      ['before', 'after'].map((when) => ({ at: `${when} ${name}`, nth: pick([1, 2, 3]) })),
    ),
  }
  return ([1, 3] as const).flatMap((groups) => {
    const faults = points[groups].flatMap((point) => faultKinds.map((how) => ({ ...point, how })))
    return inRounds(shuffle(faults, chance), 6).map((some) => {
      const servers = pick([2, 3])
      return {
        pair,
        groups,
        servers,
        isPatient,
        faults: some.map((one) => ({ ...one, ...chanceOf(servers, one.how, pick) })),
      }
    })
  })
}

/** What else happens with a fault. Of two servers, only one gets a fault. */
function chanceOf(
  servers: number,
  how: FaultKind,
  pick: <T>(of: readonly T[]) => T,
): Pick<PlannedFault, 'back' | 'agent' | 'next'> {
  const signal = pick(['SIGKILL', 'SIGSTOP'] as const)
  const agent = { signal, ms: pick([300, 2_000, 4_000]) }
  const next = { nth: pick([1, 3, 6, 12]), how: pick(faultKinds) }
  return {
    back: pick(returns),
    agent: pick([null, null, null, agent]),
    next: servers > 2 && how !== 'clock' ? pick([null, next]) : null,
  }
}

function nameOf({ at, nth, how, back, agent, next }: PlannedFault): string {
  const besides = agent === null ? '' : `, agent ${agent.signal} ${agent.ms} ms`
  const then = next === null ? '' : `, then ${next.how} at ${next.nth}`
  return `${how} ${at} ${nth}, back when ${back}${besides}${then}`
}

function describeAftermath(round: Round, after: Aftermath): string {
  const seen = ({ report: { errors, reconnects }, verdict }: Aftermath['direct']) =>
    JSON.stringify({ ...verdict, errors, reconnects })
  return [
    `${round.servers} servers, ${round.groups} group(s), refused: ${after.refused.join()}`,
    ...round.faults.map((fault, n) => `${nameOf(fault)}: ${after.faulty[n]}`),
    `endpoint ${seen(after.endpoint)}`,
    `direct ${seen(after.direct)}`,
    `${after.twoPrimaries.join()} ${after.actions.map(({ status, error, warnings }) => JSON.stringify({ status, error, warnings }))}`,
  ].join('\n  ')
}
