import { setTimeout as pause } from 'node:timers/promises'
import type { EngineConnection } from '@fairlead/engine'
import { expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { asAdmin } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { untilAction } from '../../proof/way-back.ts'

const { from, to } = usualPair()

/**
 * Upgrades and rolls back a database twice, while each group gets a change of users or settings every
 * `everyMs`. Expects every change that a primary has acknowledged to be true afterwards.
 */
export async function changeInUpgrades(fairlead: Fairlead, { shards_count, everyMs }: Shape): Promise<void> {
  const body = { name: freshName('users'), memory_size: 60_000_000, replication: true, shards_count }
  const params = { uid: (await createDatabase(fairlead, { ...body, engine_version: from })).uid }
  const stop = new AbortController()
  const changed = Promise.all(
    Array.from({ length: shards_count }, (_, group) =>
      keepChanging(fairlead, params.uid, group, everyMs, stop.signal),
    ),
  )
  changed.catch(() => undefined)
  try {
    for (let round = 0; round < 2; round += 1) {
      const { action_uid: uid = '' } = await fairlead.api.upgradeDatabase({
        params,
        body: { engine_version: to, rollback_window: 'until_finalized' },
      })
      const isBack = ({ phase, orders }: Parameters<Parameters<typeof untilAction>[3]>[0]) =>
        phase === 'window' && orders.rollback.ok
      await untilAction(fairlead, uid, 'it can go back', isBack)
      await fairlead.api.rollbackAction({ params: { uid } })
      const ended = await untilAction(fairlead, uid, 'it is back', ({ phase }) => phase === 'ended')
      expect(ended).toMatchObject({ outcome: 'rolled_back', warnings: [] })
    }
  } finally {
    stop.abort()
  }
  for (const [group, expected] of (await changed).entries()) {
    expect(expected.acknowledged).toBeGreaterThan(5)
    using primary = await connectPrimary(fairlead, params.uid, group)
    expect(await stateOf(primary)).toEqual(Object.fromEntries(expected.state))
  }
}

/** How many groups, and how often each is changed. */
export interface Shape {
  readonly shards_count: number
  readonly everyMs: number
}

interface Expected {
  readonly acknowledged: number
  /** The pattern of keys of each user, and the value of each parameter. */
  readonly state: ReadonlyMap<string, string>
}

const USERS = 7

/** Makes changes, each in a transaction that tells whether the shard was the primary then. */
async function keepChanging(
  fairlead: Fairlead,
  uid: number,
  group: number,
  everyMs: number,
  stop: AbortSignal,
): Promise<Expected> {
  let acknowledged = 0
  let primary = await connectPrimary(fairlead, uid, group)
  const state = new Map(Object.entries(await stateOf(primary)))
  // A change that a replica took may be true, too: it is made again.
  for (let n = 1, isOpen = false; isOpen || !stop.aborted; ) {
    const change = changeOf(n)
    isOpen = !(await isDone(primary, change.order))
    if (!isOpen) {
      if (change.value === null) state.delete(change.name)
      else state.set(change.name, change.value)
      acknowledged += 1
      n += 1
    } else {
      primary[Symbol.dispose]()
      primary = await connectPrimary(fairlead, uid, group)
    }
    await pause(everyMs)
  }
  primary[Symbol.dispose]()
  return { acknowledged, state }
}

function changeOf(n: number) {
  const name = `u${n % USERS}`
  if (n % 10 === 0)
    return {
      name: 'hz',
      value: String(10 + (n % 200)),
      order: ['CONFIG', 'SET', 'hz', String(10 + (n % 200))],
    }
  if (n % 3 === 0) return { name, value: null, order: ['ACL', 'DELUSER', name] }
  const value = `~k${n}:*`
  return { name, value, order: ['ACL', 'SETUSER', name, 'reset', 'on', `>${n}`, value, '+get'] }
}

/** False: the shard is no primary any more, and what it acknowledges is not promised. */
async function isDone(
  engine: EngineConnection,
  [command = '', ...args]: readonly string[],
): Promise<boolean> {
  try {
    const replies = await Promise.all([
      engine.call('MULTI'),
      engine.call(command, ...args),
      engine.call('ROLE'),
      engine.call('EXEC'),
    ])
    const [, role] = replies[3] as readonly [unknown, readonly unknown[]]
    return role[0] === 'master'
  } catch {
    return false
  }
}

async function stateOf(engine: EngineConnection): Promise<Readonly<Record<string, string>>> {
  const lines = ((await engine.call('ACL', 'LIST')) as readonly string[]).map((line) => line.split(' '))
  const users = lines.flatMap((words) => {
    const name = words[1] ?? ''
    return /^u\d$/.test(name) ? [[name, words.find((word) => word.startsWith('~')) ?? '']] : []
  })
  const [, hz = ''] = (await engine.call('CONFIG', 'GET', 'hz')) as readonly string[]
  return Object.fromEntries([...users, ['hz', hz]])
}

async function connectPrimary(fairlead: Fairlead, uid: number, group: number) {
  return await until('the group has a primary', async () => {
    const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
    const groups = [...new Set(shards.map(({ assigned_slots }) => assigned_slots))].toSorted()
    for (const shard of shards.filter(({ assigned_slots }) => assigned_slots === groups[group])) {
      const connection = await asAdmin(fairlead, Number(shard.uid)).catch(() => undefined)
      const role = await connection?.call('ROLE').catch(() => undefined)
      if (connection !== undefined && Array.isArray(role) && role[0] === 'master') return connection
      connection?.[Symbol.dispose]()
    }
    return undefined
  })
}
