import { expect, test, vi } from 'vitest'
import { createSafetyNet, REST_MS } from './safety-net.ts'

/** The databases from 1 to `count` rest; one that was looked at rests again. */
function rest(count: number) {
  const looks: { readonly uid: number; readonly at: number }[] = []
  const net = createSafetyNet((uid) => {
    looks.push({ uid, at: performance.now() })
    net.add(uid)
  })
  for (let uid = 1; uid <= count; uid += 1) net.add(uid)
  return { looks, net }
}

test('each of a few databases is looked at every 50 s', async () => {
  const { looks, net } = rest(20)
  using _ = net
  await vi.advanceTimersByTimeAsync(REST_MS - 100)
  expect(looks).toEqual([])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(new Set(looks.map(({ uid }) => uid)).size).toBe(20)
  await vi.advanceTimersByTimeAsync(REST_MS)
  expect(looks).toHaveLength(40)
})

test('of many, four a second at most are looked at, each once before any is looked at again', async () => {
  const { looks, net } = rest(1_000)
  using _ = net
  await vi.advanceTimersByTimeAsync(REST_MS + 251_000)
  expect(looks.slice(0, 1_000).map(({ uid }) => uid)).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 1))
  const [first, last] = [looks.at(0), looks.at(999)]
  expect((last?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(249_000)
})

test('those whose looks are near each other are looked at together, at most four, and none much earlier', async () => {
  const looks: { readonly uid: number; readonly at: number }[] = []
  using net = createSafetyNet((uid) => looks.push({ uid, at: performance.now() - began }))
  const began = performance.now()
  for (let uid = 1; uid <= 6; uid += 1) {
    net.add(uid)
    await vi.advanceTimersByTimeAsync(uid === 2 ? 3_000 : 400)
  }
  await vi.advanceTimersByTimeAsync(2 * REST_MS)
  const at = [REST_MS, REST_MS, ...[3, 4, 5, 6].map(() => REST_MS + 3_400)]
  expect(looks).toEqual(at.map((ms, n) => ({ uid: n + 1, at: ms })))
})

test('one that has a turn meanwhile rests anew from its end, and none is looked at when it is disposed of', async () => {
  const { looks, net } = rest(2)
  await vi.advanceTimersByTimeAsync(REST_MS - 1_000)
  net.remove(1)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(looks.map(({ uid }) => uid)).toEqual([2])
  net.add(1)
  net[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(10 * REST_MS)
  expect(looks).toHaveLength(1)
})
