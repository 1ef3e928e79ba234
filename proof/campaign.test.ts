import { expect, test } from 'vitest'
import { campaign, type Order } from './campaign.ts'
import { pastSeeds } from './past-seeds.ts'

const numbers = Array.from({ length: 100 }, (_, n) => n)
const order: Order = { profile: null, seed: 7, part: 1, parts: 1, pair: null }
const campaignOf = (said: Partial<Order>) => campaign(JSON.stringify({ ...order, ...said }))

test('outside of npm run prove, each run draws the same', () => {
  expect(campaign(undefined).seed).toBe(campaign(undefined).seed)
  expect(campaign(undefined).times('simulation', 30)).toBe(30)
})

test('a profile tries more often, and only what it is about', () => {
  const { times, is } = campaignOf({ profile: 'simulation' })
  expect([times('simulation', 30), times('byte-streams', 30)]).toEqual([600, 30])
  expect([is('simulation'), is('hostile')]).toEqual([true, false])
})

test('a profile tries every round, and npm run prove those that the seed chooses', () => {
  const triedBy = (said: Partial<Order>) => numbers.filter((n) => campaignOf(said).has('stalls', n))
  expect(triedBy({ profile: 'stalls' })).toEqual(numbers)
  const some = [4, 5, 6, 7].map((seed) => triedBy({ seed }))
  expect(some.every(({ length }) => length < numbers.length)).toBe(true)
  expect(new Set(some.flat()).size).toBe(numbers.length)
})

test('the parts of a run together try each of its rounds once', () => {
  for (const profile of [null, 'stalls'] as const) {
    const whole = numbers.filter((n) => campaignOf({ profile }).has('stalls', n))
    const parts = [1, 2, 3, 4].map((part) =>
      numbers.filter((n) => campaignOf({ profile, part, parts: 4 }).has('stalls', n)),
    )
    expect(parts.flat().toSorted((a, b) => a - b)).toEqual(whole)
  }
})

test('seeds that once found a fault are tried beside the one of the run', () => {
  expect(campaignOf({}).seeds('endpoint garbage')).toEqual([7, ...pastSeeds['endpoint garbage']])
})
