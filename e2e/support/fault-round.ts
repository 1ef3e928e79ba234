import { setTimeout as pause } from 'node:timers/promises'
import { type Action, ApiError } from '@fairlead/api'
import { type LedgerReport, type Load, startLoad, type Verdict } from '@fairlead/ledger'
import type { TestPostgres } from '../../packages/server/test/postgres.ts'
import type { Pair } from '../../proof/engine-pairs.ts'
import { rolesOf } from '../../proof/roles.ts'
import { until } from '../../proof/until.ts'
import { createFaultInjector, type FaultInjector, type FaultyServer, refusedIn } from './fault-injector.ts'
import type { FaultKind } from './server-fault.ts'
import { type Servers, startServers } from './start-servers.ts'
import { watchPrimaries } from './watch-primaries.ts'

/**
 * When a faulty server goes on: when another one holds the database; when the agent knows that one's epoch;
 * when the action has ended.
 */
export const returns = ['claimed', 'fenced', 'ended'] as const
export type Return = (typeof returns)[number]

/** A fault in an upgrade, and a second one at the server that takes over. */
export interface PlannedFault {
  readonly at: string
  readonly nth: number
  readonly how: FaultKind
  readonly back: Return
  /** The agent is killed or stopped at the same moment, and is started or resumed this much later. */
  readonly agent: { readonly signal: 'SIGKILL' | 'SIGSTOP'; readonly ms: number } | null
  /** The next server also gets a fault, this many points after it has begun. */
  readonly next: { readonly nth: number; readonly how: FaultKind } | null
}

/** Upgrades of one database under two loads, with one fault in each. */
export interface Round {
  readonly pair: Pair
  readonly groups: number
  readonly servers: number
  readonly faults: readonly PlannedFault[]
  /**
   * True: leases expire by themselves, after 15 s. False: those of the faulty server are ended at once in
   * PostgreSQL, while it still relies on them.
   */
  readonly isPatient: boolean
}

export interface Aftermath {
  readonly actions: readonly Action[]
  /** The verdicts on clients of the endpoint, and on clients that connect to the shards themselves. */
  readonly endpoint: Seen
  readonly direct: Seen
  /** One entry for each fault: the point at which it happened; "-": no server came to that point. */
  readonly faulty: readonly string[]
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
export async function injectInUpgrades(postgres: TestPostgres, round: Round): Promise<Aftermath> {
  const { pair, groups, faults } = round
  await using opened = new AsyncDisposableStack()
  const servers = opened.use(await startServers(postgres, round.servers))
  const injector = opened.use(await createFaultInjector(servers))
  const { fairlead } = servers
  const { api } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: {
      name: 'faulty',
      memory_size: 0,
      replication: true,
      shards_count: groups,
      engine_version: pair.from,
    },
  })
  await fairlead.untilEnded(action_uid)
  await servers.untilAllHoldSome()
  const endpoint = opened.use(await loadOn(injector, uid, 'one'))
  const direct = opened.use(await loadOn(injector, uid, 'sharded'))
  const moreOfBoth = () => Promise.all([endpoint, direct].map((load) => load.untilAcked(load.acked() + 50)))
  const watch = opened.use(watchPrimaries(fairlead, groups))
  const actions: Action[] = []
  const faulty: string[] = []
  for (const fault of faults) {
    await moreOfBoth()
    const body =
      actions.length === 0 ? { engine_version: pair.to } : { force_restart: true, keep_engine_version: true }
    const { action, where } = await injectOnce(injector, { uid, body }, fault, round.isPatient)
    actions.push(action)
    faulty.push(where)
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
    actions,
    faulty,
    twoPrimaries,
    refused: refusedIn(servers),
    endpoint: { report: reports.endpoint, verdict: await endpoint.readBack() },
    direct: { report: reports.direct, verdict: await direct.readBack() },
  }
}

/**
 * Answers the action. The server that is asked may get its fault before it has answered; what it has begun
 * goes on at another one.
 */
async function beginUpgrade(injector: FaultInjector, uid: number, body: Upgrade): Promise<string> {
  const begin = async () =>
    (await injector.healthy().api.upgradeDatabase({ params: { uid }, body })).action_uid
  const begun = async () => (await injector.healthy().api.getDatabase({ params: { uid } })).action_uid
  const tries = [begin, begun]
  return await until('the upgrade has begun', async () => {
    for (const ask of tries) {
      const asked = ask().catch((cause: unknown) => {
        if (cause instanceof ApiError && cause.status < 500 && cause.code !== 'db_busy') throw cause
        return undefined
      })
      const action = await unlessSilent(asked)
      if (action !== undefined) return action
      // Then it is not the one that is asked next.
      injector.faulty()
    }
    return undefined
  })
}

const SILENT_MS = 2_000

/**
 * What is asked of a server that has just been stopped is never answered. Meanwhile the agent that was
 * stopped with it would stay so, too: for a minute, and not for the time of the fault.
 */
async function unlessSilent<T>(asked: Promise<T | undefined>): Promise<T | undefined> {
  return await Promise.race([asked, pause(SILENT_MS, undefined)])
}

type Upgrade = Parameters<Servers['fairlead']['api']['upgradeDatabase']>[0]['body']

async function injectOnce(
  injector: FaultInjector,
  { uid, body }: { readonly uid: number; readonly body: Upgrade },
  fault: PlannedFault,
  isPatient: boolean,
): Promise<{ readonly action: Action; readonly where: string }> {
  const { fairlead } = injector.servers
  injector.order(fault, fault.agent?.signal)
  const asked = await beginUpgrade(injector, uid, body)
  const read = async () => {
    const { api } = injector.healthy()
    const action = await unlessSilent(api.getAction({ params: { uid: asked } }).catch(() => undefined))
    return action?.status === 'completed' || action?.status === 'failed' ? action : undefined
  }
  const untilFaulty = () =>
    until(
      'a server got the fault, or the action has ended',
      async () => injector.faulty() ?? (await read())?.status,
      {
        withinMs: 90_000,
      },
    )
  const back = async ({ member }: FaultyServer, how: FaultKind) => {
    if (how === 'clock') return
    await (isPatient ? injector.untilLeaseIsOver(member) : injector.endLease(member))
    const has = {
      claimed: () => injector.isTakenFrom(member, uid),
      fenced: () => injector.isFenced(member, uid),
    }
    await until(
      `${member.name} may go on: ${fault.back}`,
      async () => (fault.back !== 'ended' && (await has[fault.back]())) || (await read()) !== undefined,
      { withinMs: 120_000 },
    )
    await injector.resume(member, how)
  }
  const first = await untilFaulty()
  const pending: Promise<void>[] = []
  let where = '-'
  if (typeof first !== 'string') {
    where = first.point
    if (fault.agent !== null) pending.push(resumeAgent(fairlead.agent, fault.agent))
    if (fault.next !== null) injector.order({ at: '*', ...fault.next })
    pending.push(back(first, fault.how))
    const second = fault.next === null ? 'none' : await untilFaulty()
    if (typeof second !== 'string') where += `, then ${second.point}`
    if (typeof second !== 'string' && fault.next !== null) pending.push(back(second, fault.next.how))
  }
  const [action] = await Promise.all([
    until(`the upgrade ends after ${JSON.stringify(fault)} at ${where}`, read, { withinMs: 120_000 }),
    ...pending,
  ])
  await injector.settle()
  return { action, where }
}

async function resumeAgent(
  agent: Servers['fairlead']['agent'],
  { signal, ms }: NonNullable<PlannedFault['agent']>,
): Promise<void> {
  await pause(ms)
  if (signal === 'SIGSTOP') return void process.kill(agent.pid, 'SIGCONT')
  await agent.ended
  await agent.start()
}

async function loadOn(injector: FaultInjector, uid: number, groups: 'one' | 'sharded'): Promise<Load> {
  const { api, token } = injector.servers.fairlead
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${injector.url}/v1/bdbs/${uid}`, token, groups }
  return await startLoad({
    kind: 'incr',
    connections: 6,
    perSecond: 500,
    password,
    lookup,
    replyWithinMs: 60_000,
  })
}
