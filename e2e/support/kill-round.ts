import { setTimeout as pause } from 'node:timers/promises'
import type { Action } from '@fairlead/api'
import { readReplication } from '@fairlead/engine'
import { type Load, startLoad, type Verdict } from '@fairlead/ledger'
import type { Pair } from '../../proof/engine-pairs.ts'
import { asAdmin, pidOf, specOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { lossesOf } from './losses-of.ts'

export const victims = ['server', 'agent', 'primary', 'successor'] as const
export type Victim = (typeof victims)[number]

/** One upgrade under load, in the middle of which a process is killed. */
export interface Round {
  readonly pair: Pair
  readonly groups: number
  readonly preserveRoles: boolean
  /** The group in which an engine dies. */
  readonly group: number
  readonly kill: readonly Victim[]
  /** When it is killed, in milliseconds after the request of the upgrade. */
  readonly afterMs: number
  /** How long server and agent stay away. */
  readonly awayMs: number
}

export interface Aftermath {
  readonly action: Action
  /** The shards that were killed: "primary s4". Without those that had not started yet, or were gone. */
  readonly killed: readonly string[]
  readonly verdicts: readonly Verdict[]
  /** The reports of losses, in the action and in the audit. */
  readonly told: readonly string[]
}

/** Throws when the action does not end, or the database is not whole again. Leaves no database behind. */
export async function killInUpgrade(fairlead: Fairlead, round: Round): Promise<Aftermath> {
  const { api } = fairlead
  const uid = await create(fairlead, round)
  await using load = await loadOn(fairlead, uid, round)
  await load.untilAcked(500)
  const { action_uid } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: round.pair.to, preserve_roles: round.preserveRoles },
  })
  await pause(round.afterMs)
  const killed = await kill(fairlead, uid, round)
  await pause(round.awayMs)
  if (killed.includes('agent')) await fairlead.agent.start()
  if (killed.includes('server')) await fairlead.server.start()

  const action = await fairlead.untilEnded(action_uid, 120_000)
  await untilWhole(fairlead, uid, round.groups)
  await load.untilAcked(load.acked() + 500)
  await load.stop()
  const verdicts = [await load.readBack()]
  for (const { port, role } of await api.listDatabaseShards({ params: { uid } }))
    if (role === 'slave') verdicts.push(await load.readBack({ address: { host: '127.0.0.1', port } }))
  const told = [...action.warnings, ...(await lossesOf(fairlead, uid)).map((loss) => JSON.stringify(loss))]
  await fairlead.untilEnded((await api.deleteDatabase({ params: { uid } })).action_uid)
  return { action, killed, verdicts, told }
}

async function create(fairlead: Fairlead, { pair, groups }: Round): Promise<number> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: {
      name: `killed-${Date.now().toString(36)}`,
      memory_size: 0,
      replication: true,
      shards_count: groups,
      ...(groups > 1 && { oss_cluster: true }),
      engine_version: pair.from,
    },
  })
  const { status, error } = await fairlead.untilEnded(action_uid)
  if (status !== 'completed') throw new Error(`it was not created: ${error}`)
  return uid
}

async function loadOn(fairlead: Fairlead, uid: number, { groups }: Round): Promise<Load> {
  const { authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({ params: { uid } })
  const at = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  const lookup = { ...at, groups: groups > 1 ? ('sharded' as const) : ('one' as const) }
  return startLoad({ kind: 'incr', connections: 9, perSecond: 2_000, password, lookup })
}

/** Kills all of them at once, as a machine in trouble would. */
async function kill(fairlead: Fairlead, uid: number, round: Round): Promise<readonly string[]> {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  const places = [...new Set(shards.map(({ assigned_slots }) => assigned_slots))]
  const group = shards.filter((shard) => shard.assigned_slots === places[round.group % places.length])
  const target = `${round.pair.to.split('-')[1]}`
  const chosen = {
    primary: group.find(({ role }) => role === 'master'),
    successor: group.find((shard) => shard.role === 'slave' && shard.engine_version === target),
  }
  const kills = await Promise.all(
    round.kill.map(async (victim) => {
      if (victim === 'server' || victim === 'agent')
        return { name: victim, end: () => fairlead[victim].end('SIGKILL') }
      const shard = chosen[victim]
      const pid = shard && (await pidOf(fairlead, Number(shard.uid)).catch(() => undefined))
      if (shard === undefined || pid === undefined) return []
      return { name: `${victim} s${shard.uid}`, end: async () => void process.kill(pid, 'SIGKILL') }
    }),
  )
  const real = kills.flat()
  await Promise.all(real.map(({ end }) => end()))
  return real.map(({ name }) => name)
}

/**
 * One primary in each group, every other shard linked to one of them, and no shard on record that does not
 * answer.
 */
async function untilWhole(fairlead: Fairlead, uid: number, groups: number): Promise<void> {
  let last = ''
  const isWhole = async () => {
    const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
    const seen = await Promise.all(
      shards.map(async ({ uid: shard }) => {
        try {
          using admin = await asAdmin(fairlead, Number(shard))
          const { role, link, primary } = readReplication(await admin.info('replication'))
          const { port, tls } = specOf(fairlead.home, Number(shard))
          const follows = link === 'up' ? primary?.port : undefined
          return { shard, role, follows, port: tls?.port ?? port }
        } catch {
          return { shard, role: 'silent', follows: undefined, port: 0 }
        }
      }),
    )
    last = JSON.stringify(seen)
    const primaries = seen.filter(({ role }) => role === 'primary').map(({ port }) => port)
    const followed = seen.flatMap(({ role, follows }) => (role === 'replica' ? [follows] : []))
    return (
      seen.length === 2 * groups &&
      primaries.length === groups &&
      primaries.every((port) => followed.includes(port)) &&
      followed.every((port) => port !== undefined && primaries.includes(port))
    )
  }
  await until('one primary and one linked replica in each group', isWhole).catch((error: Error) => {
    throw new Error(`${error.message}: ${last}`)
  })
}
