import { passwordDigest } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { type Access, type FormerAccess, formerAfter, nextEndMs, stillValid } from './former-access.ts'

const now = Date.parse('2026-12-01T12:00:00.000Z')
const after = (seconds: number) => new Date(now + seconds * 1_000).toISOString()
const access: Access = { name: 'orders', endpointPort: 12_000, tls: false, userPassword: 'one', former: [] }
const place = (port: number, tls: boolean, until = after(60)): FormerAccess => {
  return { kind: 'place', port, tls, until }
}
const change = (before: Access, to: Partial<Access>, seconds?: number) =>
  formerAfter(before, { ...before, ...to }, { seconds, now })

test('what a change replaces is valid for a day, or as long as the request says', () => {
  expect(change(access, { endpointPort: 12_001 })).toEqual([place(12_000, false, after(86_400))])
  expect(change(access, { tls: true, name: 'bills' }, 60)).toEqual([
    place(12_000, false),
    { kind: 'name', name: 'orders', until: after(60) },
  ])
  expect(change(access, { endpointPort: 12_001 }, 0)).toEqual([])
  expect(change(access, { userPassword: 'two' }, 60)).toEqual([
    { kind: 'password', digest: passwordDigest('one'), until: after(60) },
  ])
})

test('what becomes present again is no longer former, and nothing is listed twice', () => {
  const moved = { ...access, endpointPort: 12_001, former: [place(12_000, false)] }
  expect(change(moved, { endpointPort: 12_000 }, 60)).toEqual([place(12_001, false)])
  const again = { ...moved, former: [place(12_000, false), place(12_001, false, after(10))] }
  expect(change(again, { endpointPort: 12_002 }, 60)).toEqual([place(12_000, false), place(12_001, false)])
})

test('a time without another change is for what was replaced before; other changes leave it alone', () => {
  const moved = { ...access, former: [place(11_999, true)] }
  expect(change(moved, {})).toEqual(moved.former)
  expect(change(moved, {}, 10)).toEqual([place(11_999, true, after(10))])
  expect(change(moved, {}, 0)).toEqual([])
  expect(change(moved, { name: 'bills' }, 0)).toEqual(moved.former)
})

test('a former port ends at its time, or after an hour without a client', () => {
  const former = [place(1, false, after(0)), place(2, false), place(3, true)]
  const use = { port: 2, tls: false, connections: 0, quietMs: 3_600_000 }
  expect(stillValid(former, [], now)).toEqual(former.slice(1))
  expect(stillValid(former, [use], now)).toEqual(former.slice(2))
  expect(stillValid(former, [{ ...use, connections: 1 }], now)).toEqual(former.slice(1))
  expect(stillValid(former, [{ ...use, tls: true }], now)).toEqual(former.slice(1))
})

test('the next look is when something ends, and later where an end cannot be carried out', () => {
  expect(nextEndMs([], now)).toBe(Number.POSITIVE_INFINITY)
  expect(nextEndMs([place(1, false, after(90)), place(2, false, after(60))], now)).toBe(60_000)
  expect(nextEndMs([place(1, false, after(-5))], now)).toBe(1_000)
})
