import type { EngineConnection, Reply } from '@fairlead/engine'
import { afterEach, expect, test, vi } from 'vitest'
import { compareSettings } from './carry-settings.ts'

/** An engine that answers this when it is asked for its users and for its commands. */
function engineOf(users: readonly string[], commands: number): EngineConnection {
  const replies: Readonly<Record<string, Reply>> = {
    ACL: users,
    CONFIG: [],
    MODULE: [],
    COMMAND: Array.from({ length: commands }, (_, n) => [`c${n}`, 1, [], 0, 0, 0, ['@read', '@write']]),
  }
  return {
    address: { host: '127.0.0.1', port: 1 },
    usable: true,
    call: (command) => Promise.resolve(replies[command] ?? null),
    info: () => Promise.resolve(''),
    [Symbol.dispose]: () => undefined,
  }
}

/** How often others had their turn while `work` went on. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  return turns
}

afterEach(() => vi.restoreAllMocks())

test('a hostile engine does not stall the server with a huge list of users', async () => {
  // Each look at the clock finds that a piece of the work has taken its time.
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 1_000
    return now
  })
  const rules = Array.from({ length: 400 }, (_, n) => `${n % 2 === 0 ? '+' : '-'}c${n}`).join(' ')
  const users = Array.from({ length: 100 }, (_, n) => `user u${n} on ${rules} (+@all -@read ${rules})`)
  const huge = `user huge on ${'~a '.repeat(300_000)}${'(+@all) '.repeat(20_000)}`
  const build = { flavour: 'valkey', version: '9.1.2' } as const
  const compared = compareSettings({
    from: engineOf([...users, huge], 3_000),
    fromBuild: build,
    to: engineOf(users.slice(1), 3_000),
    toBuild: build,
    inCluster: false,
    baseline: {},
  })
  const turns = await turnsDuring(compared)
  expect(await compared).toEqual([
    'user huge: its rules are longer than 1 MB, and are not read',
    'user u0 is missing or has other rights on 127.0.0.1:1',
  ])
  // In one piece it took seconds.
  expect(turns).toBeGreaterThan(100)
})
