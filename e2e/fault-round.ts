import { setTimeout as pause } from 'node:timers/promises'
import type { Action } from '@fairlead/api'
import { type LedgerReport, type Load, startLoad, type Verdict } from '@fairlead/ledger'
import type { TestPostgres } from '../packages/server/test/postgres.ts'
import type { Pair } from '../proof/engine-pairs.ts'
import { rolesOf } from '../proof/roles.ts'
import { until } from '../proof/until.ts'
import { type Servers, startServers } from './start-servers.ts'
import type { Blow } from './strike.ts'
import { createField, type Field, refusedIn, type Struck } from './strike-field.ts'
import { watchPrimaries } from './watch-primaries.ts'

/** When a struck server goes on: when another one holds the database; when the agent knows that one's epoch; when the action has ended. */
export const returns = ['claimed', 'fenced', 'ended'] as const
export type Return = (typeof returns)[number]

/** A strike in an upgrade, and a second one at the server that takes over. */
export interface Stroke {
  readonly at: string
  readonly nth: number
  readonly how: Blow
  readonly back: Return
  /** The agent is killed or stopped at the same moment, and is started or resumed this much later. */
  readonly agent: { readonly signal: 'SIGKILL' | 'SIGSTOP'; readonly ms: number } | null
  /** The next server is struck, too, this many points after it has begun. */
  readonly next: { readonly nth: number; readonly how: Blow } | null
}

/** Upgrades of one database under two loads, with one strike in each. */
export interface Round {
  readonly pair: Pair
  readonly groups: number
  readonly servers: number
  readonly strokes: readonly Stroke[]
  /** True: leases expire by themselves, after 15 s. False: those of the struck server are ended at once in PostgreSQL, while it still relies on them. */
  readonly isPatient: boolean
}

export interface Aftermath {
  readonly actions: readonly Action[]
  /** The verdicts on clients of the endpoint, and on clients that connect to the shards themselves. */
  readonly endpoint: Seen
  readonly direct: Seen
  /** One entry for each strike: the point at which it happened; "-": no server came to that point. */
  readonly struck: readonly string[]
  /** Writes that two primaries took. */
  readonly twoPrimaries: readonly string[]
  /** The kinds of refusals that servers got: "lease", "epoch". */
  readonly refused: readonly string[]
}

export interface Seen {
  readonly report: LedgerReport
  readonly verdict: Verdict
}

/** Throws when an upgrade does not end, or the database is not whole in the end. */
export async function strikeInUpgrades(postgres: TestPostgres, round: Round): Promise<Aftermath> {
  const { pair, groups, strokes } = round
  await using opened = new AsyncDisposableStack()
  const servers = opened.use(await startServers(postgres, round.servers))
  const field = opened.use(await createField(servers))
  const { fairlead } = servers
  const { api } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: {
      ...{ name: 'struck', memory_size: 0, replication: true },
      ...{ shards_count: groups, engine_version: pair.from },
    },
  })
  await fairlead.untilEnded(action_uid)
  await servers.untilAllHoldSome()
  const endpoint = opened.use(await loadOn(field, uid, 'one'))
  const direct = opened.use(await loadOn(field, uid, 'sharded'))
  const moreOfBoth = () => Promise.all([endpoint, direct].map((load) => load.untilAcked(load.acked() + 50)))
  const watch = opened.use(watchPrimaries(fairlead, groups))
  const actions: Action[] = []
  const struck: string[] = []
  for (const stroke of strokes) {
    await moreOfBoth()
    const body =
      actions.length === 0 ? { engine_version: pair.to } : { force_restart: true, keep_engine_version: true }
    const { action, where } = await strikeOnce(field, { uid, body }, stroke, round.isPatient)
    actions.push(action)
    struck.push(where)
  }
  const whole = [...Array(groups).fill('primary'), ...Array(groups).fill('replica')].join()
  await until(
    'one primary and one replica a group',
    async () => (await rolesOf(fairlead, uid)).join() === whole,
  )
  await moreOfBoth()
  const twoPrimaries = await watch.end()
  const reports = { endpoint: await endpoint.stop(), direct: await direct.stop() }
  return {
    ...{ actions, struck, twoPrimaries, refused: refusedIn(servers) },
    endpoint: { report: reports.endpoint, verdict: await endpoint.readBack() },
    direct: { report: reports.direct, verdict: await direct.readBack() },
  }
}

type Upgrade = Parameters<Servers['fairlead']['api']['upgradeDatabase']>[0]['body']

async function strikeOnce(
  field: Field,
  { uid, body }: { readonly uid: number; readonly body: Upgrade },
  stroke: Stroke,
  isPatient: boolean,
): Promise<{ readonly action: Action; readonly where: string }> {
  const { fairlead } = field.servers
  field.order(stroke, stroke.agent?.signal)
  const { action_uid: asked = '' } = await field.standing().api.upgradeDatabase({ params: { uid }, body })
  const read = async () => {
    const action = await field
      .standing()
      .api.getAction({ params: { uid: asked } })
      .catch(() => undefined)
    return action?.status === 'completed' || action?.status === 'failed' ? action : undefined
  }
  const untilStruck = () =>
    until('it is struck, or has ended', async () => field.struck() ?? (await read())?.status, {
      withinMs: 90_000,
    })
  const back = async ({ member }: Struck, how: Blow) => {
    if (how === 'clock') return
    await (isPatient ? field.untilLeaseIsOver(member) : field.endLease(member))
    const has = { claimed: () => field.isTakenFrom(member, uid), fenced: () => field.isFenced(member, uid) }
    await until(
      `${member.name} may go on: ${stroke.back}`,
      async () => (stroke.back !== 'ended' && (await has[stroke.back]())) || (await read()) !== undefined,
      { withinMs: 120_000 },
    )
    await field.letGoOn(member, how)
  }
  const first = await untilStruck()
  const pending: Promise<void>[] = []
  let where = '-'
  if (typeof first !== 'string') {
    where = first.point
    if (stroke.agent !== null) pending.push(letAgentGoOn(fairlead.agent, stroke.agent))
    if (stroke.next !== null) field.order({ at: '*', ...stroke.next })
    pending.push(back(first, stroke.how))
    const second = stroke.next === null ? 'none' : await untilStruck()
    if (typeof second !== 'string') where += `, then ${second.point}`
    if (typeof second !== 'string' && stroke.next !== null) pending.push(back(second, stroke.next.how))
  }
  const [action] = await Promise.all([
    until(`the upgrade ends after ${JSON.stringify(stroke)} at ${where}`, read, { withinMs: 120_000 }),
    ...pending,
  ])
  await field.settle()
  return { action, where }
}

async function letAgentGoOn(
  agent: Servers['fairlead']['agent'],
  { signal, ms }: NonNullable<Stroke['agent']>,
): Promise<void> {
  await pause(ms)
  if (signal === 'SIGSTOP') return void process.kill(agent.pid, 'SIGCONT')
  await agent.ended
  await agent.start()
}

async function loadOn(field: Field, uid: number, groups: 'one' | 'sharded'): Promise<Load> {
  const { api, token } = field.servers.fairlead
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${field.url}/v1/bdbs/${uid}`, token, groups }
  return await startLoad({
    kind: 'incr',
    connections: 6,
    perSecond: 500,
    password,
    lookup,
    replyWithinMs: 60_000,
  })
}
