import { sourceOfWriteStop } from '@fairlead/api'
import { expect, test } from 'vitest'
import { factsOf, type Plan, trialOf } from './describe-plan.ts'

const plan = {
  handovers: 2,
  write_stop_ms: { typical: 12, longest: 60 },
  outage_ms: 0,
  risks: [],
  redundancy_min: 1,
  memory_needed: 0,
  memory_free: 0,
  disk_needed: 0,
  disk_free: 0,
  duration: { ms: null, not_counted: [] },
  way_back: { until: 'time', seconds: 900, why: '', afterwards: { possible: false, why: 'it is older' } },
  // Only the described fields of a plan.
} as unknown as Plan

test('a plan says how often and how long writes stop, that there is no bound, and how long there is a way back', () => {
  const facts = Object.fromEntries(factsOf(plan).map(({ name, value }) => [name, value]))
  expect(facts).toMatchObject({
    'Write stop': `2 times, about 12 ms, seldom above 60 ms: ${sourceOfWriteStop}`,
    'Other interruptions': 'never',
    Takes: 'not known',
    'Copies of the data': 'never fewer than 1',
    'Way back': 'without loss, for 15 min after the last handover',
    'Way back later': 'none: it is older',
    Risks: 'none known',
  })
})

test('a trial that failed says why the target does not start', () => {
  expect(trialOf({ ok: false, why: 'out of luck today', start_ms: 1 })).toBe(
    'The target does not start: out of luck today',
  )
})
