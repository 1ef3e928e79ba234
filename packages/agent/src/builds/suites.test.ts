import { expect, test } from 'vitest'
import { orderSuites, suites } from './suites.ts'

const namesOf = (groups: ReturnType<typeof orderSuites>) =>
  groups.map((group) => group.map(({ name }) => name))

test('the suite that carried a version is asked first and alone, and every suite is asked once', () => {
  for (const version of ['8.1', '8.1.1', '8.1.99']) {
    const order = namesOf(orderSuites('valkey', version, true))
    expect(order[0]).toEqual(['trixie'])
    expect(order.flat().toSorted()).toEqual(suites.map(({ name }) => name).toSorted())
  }
})

test('released suites are asked before those in development', () => {
  expect(namesOf(orderSuites('redis', '8', true)).slice(0, 3)).toEqual([
    ['trixie'],
    ['sid'],
    ['experimental'],
  ])
})

test('without a version all suites are asked, a few at a time', () => {
  const order = orderSuites('valkey', undefined, true)
  expect(order.flat()).toHaveLength(suites.length)
  expect(Math.max(...order.map((group) => group.length))).toBe(3)
})

test('suites in development are asked only on request', () => {
  const unstable = suites.filter(({ isUnstable }) => isUnstable).map(({ name }) => name)
  expect(unstable).toEqual(['sid', 'experimental'])
  for (const version of ['9.1', '8.1', undefined]) {
    const asked = namesOf(orderSuites('valkey', version, false)).flat()
    expect(asked).toHaveLength(suites.length - 2)
    for (const name of unstable) expect(asked).not.toContain(name)
  }
})
