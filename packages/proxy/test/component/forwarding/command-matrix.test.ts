import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainDifferences, shardedDifferences } from '../../commands/differences.ts'
import { explain } from '../../commands/explain.ts'
import { families } from '../../commands/families.ts'
import { askable, commandsOf, keysIn, withoutRow } from '../../commands/known-commands.ts'
import { plainEndpoint, shardedEndpoint, singleEngine } from '../../commands/places.ts'
import { type Row, wordsOf } from '../../commands/row.ts'
import { askSingle, type Finding, findDifferences, runsOf } from '../../commands/run-matrix.ts'
import { type Run, type Transcript, talkAsUser } from '../../commands/run-rows.ts'
import { builds, newest } from '../../stage.ts'

const rows = families.flatMap((family) => family.rows)
const known = new Map<string, ReadonlySet<string>>()
let runs: readonly Run[] = []
let atSingle: (run: Run) => Transcript = () => []

beforeAll(async () => {
  for (const build of builds) {
    await using single = await singleEngine(build)
    const commands = await commandsOf(single.engine)
    known.set(build, commands)
    if (build !== newest) continue
    runs = runsOf(askable(rows, commands), isOfConnection)
    atSingle = await askSingle(single, runs)
  }
})

// invariant: A command of an engine that was not reviewed fails the suite.
test.for(builds)('the table has every command of %s', (build) => {
  expect(withoutRow(knownTo(build), rows)).toEqual([])
})

describe('the marks of the table are correct', () => {
  test('only the rows that are marked so are answered with an error, and every row is answered', () => {
    const wrong = runs
      .filter(({ way, row }) => way === 'held' && !row.marks.has('may-fail'))
      .filter((run) => {
        const steps = atSingle(run)
        const own = steps.findLast(({ asked }) => asked === run.row.ask)?.got ?? ''
        return (
          own.startsWith('-') !== run.row.marks.has('error') || steps.some(({ got }) => got === 'no answer')
        )
      })
    expect(wrong.map(({ row }) => row.ask)).toEqual([])
  })

  test('a write shows its effect', () => {
    const writes = families.filter(({ name }) => ['Writes', 'Blocking'].includes(name))
    expect(writes.flatMap((family) => family.rows.filter(({ after }) => after.length === 0))).toEqual([])
  })
})

// invariant: A command with a handover in its middle has the reply and effect of a single engine.
test('a command with a handover in the middle has the same reply and effect as without one', async () => {
  await using place = await plainEndpoint(newest, newest)
  const found = await findDifferences(place, runs, atSingle)
  expectExplained(explain(found, plainDifferences))
})

test('commands that only other engines have, with a handover in the middle, have the same reply and effect', async () => {
  for (const build of builds) {
    const own = ownRows(build)
    if (own.length === 0) continue
    await using single = await singleEngine(build)
    await using place = await plainEndpoint(build, build)
    const ownRuns = runsOf(own, () => true)
    const found = await findDifferences(place, ownRuns, await askSingle(single, ownRuns))
    expect(found.map(told)).toEqual([])
  }
})

describe('a sharded database', () => {
  let place: Awaited<ReturnType<typeof shardedEndpoint>>
  beforeAll(async () => {
    place = await shardedEndpoint(newest)
  })
  afterAll(() => place[Symbol.asyncDispose]())

  test('refuses a command with keys of several slots', async () => {
    const manyKeys = askable(rows, knownTo(newest)).filter(
      (row) => keysIn(row).length > 1 && !/SUBSCRIBE|PUBSUB/.test(row.name),
    )
    expect(manyKeys.length).toBeGreaterThan(20)
    using client = await talkAsUser(place.port, 2)
    const taken: string[] = []
    for (const { ask } of manyKeys) {
      const words = wordsOf(ask, 'a').map((word) => Buffer.from(String(word).replace(/\{a\}([lm])/, '{b}$1')))
      const answer = await client.ask(words)
      if (!answer.startsWith('-CROSSSLOT ')) taken.push(`${ask}: ${answer}`)
    }
    expect(taken).toEqual([])
  })

  test('answers and does what a single engine would, with handovers of all groups in the middle', async () => {
    const found = await findDifferences(
      place,
      runsOf(askable(rows, knownTo(newest)), () => false),
      atSingle,
    )
    expectExplained(explain(found, shardedDifferences))
  })
})

/** The protocol matters to more than how its reply is written. */
function isOfConnection(row: Row): boolean {
  const names = ['Blocking', 'Transactions', 'Pub/sub', 'Connection']
  return families.some(({ name, rows: own }) => names.includes(name) && own.includes(row))
}

function knownTo(build: string): ReadonlySet<string> {
  return known.get(build) ?? new Set()
}

/**
 * Rows that the newest engine does not know, and this engine does; if several engines know them, the last of
 * these.
 */
function ownRows(build: string): readonly Row[] {
  const last = (name: string) => builds.findLast((each) => knownTo(each).has(name))
  return rows.filter(({ name }) => !knownTo(newest).has(name) && last(name) === build)
}

function expectExplained({ unexplained, idle }: ReturnType<typeof explain>): void {
  expect(unexplained.map(told)).toEqual([])
  // Some are of valkey only.
  if (newest.startsWith('valkey')) expect(idle.map(({ means }) => means)).toEqual([])
}

function told({ run, asked, got, wanted }: Finding): string {
  const { row, way, protocol } = run
  return JSON.stringify({ row: row.ask, way, protocol, asked, got, wanted })
}
