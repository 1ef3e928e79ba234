import { rule } from './rule.ts'
import { find, importsIn, read } from './tree.ts'

/**
 * So many tests of the proof have the tag `machine`: what they find may be a moment of the machine, so they
 * get a second try, which the report counts. The number only falls: a test that needs the tag has a fault,
 * which is found or not yet.
 */
const MACHINE_TESTS = 0

/** The folder is the tier. */
const tiers = {
  unit: /^((packages\/[^/]+|ledger)\/src|bench|demo|proof|tools)\//,
  component: /^(packages\/[^/]+|ledger)\/test\/component\//,
  acceptance: /^e2e\/acceptance\//,
  proof: /^e2e\/proof\//,
}

/**
 * Where a test may have the tag. Not where acknowledged writes, the order of replies, fences and the planner
 * are proven.
 */
const mayMeetTheMachine = /^e2e\/proof\/(command-line|console|modules|neighbours|operate)\//
const provesWrites = /^@fairlead\/ledger$|\/upgrade-under-load\.ts$|\/support\/\w+-round\.ts$/

const tests = find('**/*.test.{ts,tsx,mjs}')
const settings = find('*.{ts,json}', 'tools/**/*.{ts,mjs}', 'packages/*/package.json', '.ci/*').filter(
  (file) => file !== 'tools/check/tests.ts',
)
const definition = /\{ name: 'machine', retry: 1\b/
const tagged = /\btest\(\s*(?:'[^'\n]*'|`[^`]*`),\s*\{ tags: \['machine'\] \}/g
const anyTag = /\btags: \[|@module-tag\b/g

/** Not the `retry` of a plan, nor that of an order. */
const secondTry = /\bretry: (?:\d|\{ (?:count|delay|condition)\b|(?!step\b)\w+[,\s])/

/** Where tests are, and what they get when they fail. */
export const ofTests = [
  rule('a test is in the folder of a tier', () =>
    tests.filter((file) => !Object.values(tiers).some((tier) => tier.test(file))),
  ),

  rule('nothing gets a second try but by the tag of the proof', () => [
    ...tests.filter((file) => secondTry.test(read(file))),
    ...settings.filter((file) =>
      /\bretry\b/.test(read(file).replace(definition, '').replace('retry: 0,', '')),
    ),
  ]),

  rule('only a test of the proof has a tag, and none of writes, order, fences and the planner', () =>
    tests.flatMap((file) => {
      const times = count(file, anyTag)
      if (times === 0) return []
      if (times !== count(file, tagged)) return [`${file}: write test('…', { tags: ['machine'] }, …)`]
      const proves = importsIn(file).some(({ from }) => provesWrites.test(from))
      return proves || !mayMeetTheMachine.test(file) ? [`${file}: it may not have the tag`] : []
    }),
  ),

  rule(`${MACHINE_TESTS} tests have the tag: their number in tools/check/tests.ts falls with them`, () => {
    const now = tests.reduce((sum, file) => sum + count(file, tagged), 0)
    return now === MACHINE_TESTS ? [] : [`now: ${now}`]
  }),
]

function count(file: string, pattern: RegExp): number {
  return [...read(file).matchAll(pattern)].length
}
