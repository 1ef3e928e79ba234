import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@fairlead/api'
import { type LedgerReport, type Load, startLoad, type Verdict } from '@fairlead/ledger'
import type { Pair } from '../../proof/engine-pairs.ts'
import { rolesOf } from '../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { lossesOf } from './losses-of.ts'
import type { Stall } from './stall.ts'

/** Upgrades of one database under two loads, one stall in each handover until all have happened. */
export interface Round {
  readonly pair: Pair
  readonly groups: number
  readonly stalls: readonly Stall[]
  /** FAIRLEAD_HUNG_AFTER_SECONDS; absent: two minutes. */
  readonly hungAfterSeconds?: number
}

export interface Aftermath {
  readonly actions: readonly Action[]
  /** The verdicts on clients of the endpoint, and on clients that connect to the shards themselves. */
  readonly endpoint: Seen
  readonly direct: Seen
  /** The stalls that happened. */
  readonly stalled: readonly string[]
  /** The audit records about losses. */
  readonly told: readonly string[]
}

export interface Seen {
  readonly report: LedgerReport
  readonly verdict: Verdict
}

/**
 * The first upgrade goes to the newer build, all others restart it. Throws when one does not end, or the
 * database is not whole in the end.
 */
export async function stallInUpgrades(round: Round): Promise<Aftermath> {
  const { pair, groups, stalls, hungAfterSeconds } = round
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, 'crash-main.ts'),
    ...(hungAfterSeconds !== undefined && {
      env: { FAIRLEAD_HUNG_AFTER_SECONDS: String(hungAfterSeconds) },
    }),
  })
  const { api, home, server } = fairlead
  const log = join(home, 'stalls')
  const { uid, action_uid } = await api.createDatabase({
    body: {
      name: 'stalled',
      memory_size: 0,
      replication: true,
      shards_count: groups,
      engine_version: pair.from,
    },
  })
  await fairlead.untilEnded(action_uid)
  await server.end('SIGTERM')
  await server.start({ STALLS: JSON.stringify(stalls), STALL_LOG: log })
  await using endpoint = await loadOn(fairlead, uid, 'one')
  await using direct = await loadOn(fairlead, uid, 'sharded')
  const moreOfBoth = () => Promise.all([endpoint, direct].map((load) => load.untilAcked(load.acked() + 200)))
  await moreOfBoth()
  const actions = await upgradeUntilStalled(fairlead, { uid, log, to: pair.to, stalls })
  const whole = [...Array(groups).fill('primary'), ...Array(groups).fill('replica')].join()
  const isWhole = async () => (await rolesOf(fairlead, uid)).join() === whole
  await until('one primary and one replica a group', isWhole)
  await moreOfBoth()
  const reports = { endpoint: await endpoint.stop(), direct: await direct.stop() }
  return {
    actions,
    endpoint: { report: reports.endpoint, verdict: await endpoint.readBack() },
    direct: { report: reports.direct, verdict: await direct.readBack() },
    stalled: linesOf(log),
    told: (await lossesOf(fairlead, uid)).map((loss) => JSON.stringify(loss)),
  }
}

/** Upgrades, and restarts, until every stall has come. */
async function upgradeUntilStalled(
  fairlead: Fairlead,
  { uid, log, to, stalls }: Pick<Round, 'stalls'> & { uid: number; log: string; to: string },
): Promise<readonly Action[]> {
  const actions: Action[] = []
  while (linesOf(log).length < stalls.length) {
    if (actions.length > stalls.length)
      throw new Error(`of ${JSON.stringify(stalls)}, only ${linesOf(log).length} came`)
    const body = { engine_version: to, force_restart: actions.length > 0 }
    const upgrade = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    actions.push(await fairlead.untilEnded(upgrade.action_uid, 150_000))
  }
  return actions
}

function loadOn(fairlead: Fairlead, uid: number, groups: 'one' | 'sharded'): Promise<Load> {
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token, groups }
  return fairlead.api
    .getDatabase({ params: { uid } })
    .then(({ authentication_engine_pass: password = '' }) =>
      startLoad({ kind: 'incr', connections: 9, perSecond: 1_000, password, lookup }),
    )
}

function linesOf(log: string): readonly string[] {
  try {
    return readFileSync(log, 'utf8').split('\n').filter(Boolean)
  } catch {
    return [] // nothing has been stalled yet
  }
}

/** Counts lost and duplicated writes. */
export function countWrongs({ endpoint, direct }: Aftermath) {
  const of = ({ verdict }: Aftermath['direct']) => [verdict.lost, verdict.duplicated]
  return { endpoint: of(endpoint), direct: of(direct) }
}

/** For people: what happened, and what clients saw of it. */
export function describeAftermath({ pair, groups }: Round, after: Aftermath): string {
  const { endpoint, direct, stalled, told, actions } = after
  const seen = ({ report, verdict }: Aftermath['direct']) =>
    JSON.stringify({
      ...verdict,
      errors: report.errors,
      reconnects: report.reconnects,
      longest: longestMs(report.gaps),
    })
  return [
    `${pair.from} to ${pair.to}, ${groups} group(s): ${stalled.join(', ')}`,
    `endpoint ${seen(endpoint)}`,
    `direct ${seen(direct)}`,
    `told ${told.join()}; ${actions.map(({ status, error, warnings }) => JSON.stringify({ status, error, warnings }))}`,
  ].join('\n  ')
}

function longestMs(gaps: readonly { readonly fromMs: number; readonly toMs: number }[]): number {
  return Math.round(Math.max(0, ...gaps.map(({ fromMs, toMs }) => toMs - fromMs)))
}
