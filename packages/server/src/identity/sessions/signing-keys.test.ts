import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openTestStore } from '../../../test/open-test-store.ts'
import { fairlead } from '../../core/identity/audit-record.ts'
import { createSecretBox } from '../../store/secret-box.ts'
import { createSigningKeys } from './signing-keys.ts'

const DAY_MS = 86_400_000
const log = pino({ level: 'silent' })

test('servers that maintain the keys at the same time create, change and drop each key once', async () => {
  await using store = await openTestStore(':memory:')
  const box = createSecretBox(randomBytes(32))
  let nowMs = Date.parse('2026-01-01T12:00:00Z')
  const start = () => createSigningKeys({ store, box, now: () => nowMs, rotateEveryMs: 30 * DAY_MS, log })
  const servers = await Promise.all([start(), start(), start()])
  try {
    const stages = async () => {
      for (const server of servers) await server.tend()
      const [first = [], ...others] = servers.map((server) => server.list())
      for (const other of others) expect(other).toEqual(first)
      return first.map(({ stage }) => stage).toSorted()
    }
    expect(await stages()).toEqual(['active', 'next'])
    nowMs += 31 * DAY_MS
    await Promise.all(servers.map((server) => server.tend()))
    expect((await stages()).filter((stage) => stage === 'active')).toEqual(['active'])
    const [first, second] = servers
    await Promise.all([first?.rotate(fairlead, false), second?.tend()])
    const after = await stages()
    expect(after.filter((stage) => stage !== 'retired')).toEqual(['active', 'next'])
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]()
  }
})
