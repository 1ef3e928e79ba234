import { spread } from '../../demo/summarize.ts'
import { bareFloor } from './bare-floor.ts'
import { clusterFailover } from './cluster-failover.ts'
import { failoverCommand } from './failover-command.ts'
import { type FairleadHandovers, fairleadHandovers } from './fairlead-handovers.ts'
import type { Comparison } from './hand-over-under-load.ts'
import type { Checked } from './loaded-database.ts'
import { parallelUpgrade } from './parallel-upgrade.ts'
import { sentinelFailover } from './sentinel-failover.ts'
import type { Versions } from './start-pair.ts'
import { type Judged, judgeParallel, judgeSeconds, judgeStops } from './summarize-upgrade.ts'
import { upgradeSeconds } from './upgrade-seconds.ts'

/** Lists by their name, for people who look for a cause; the fields carry their unit. */
export type Details = Readonly<
  Record<string, readonly Readonly<Record<string, string | number | ReturnType<typeof spread>>>[]>
>

export interface Measured {
  readonly goals: readonly Judged[]
  readonly details: Details
  /** Over all runs of Fairlead. */
  readonly lost: number
  readonly duplicated: number
}

interface Rounds {
  readonly rounds: number
  /** Called with a text about each measurement. */
  readonly say: (sentence: string) => void
}

/**
 * Fairlead and the engines' own procedures, on the same builds and load: one after the other, never at once.
 */
export async function measureStops(versions: Versions, { rounds, say }: Rounds): Promise<Measured> {
  const ours = { single: [] as FairleadHandovers[], sharded: [] as FairleadHandovers[] }
  const counting: FairleadHandovers[] = []
  const theirs = new Map<string, Comparison[]>()
  for (let round = 0; round < rounds; round += 1) {
    ours.single.push(await fairleadHandovers(versions, { groups: 1, kind: 'set' }))
    ours.sharded.push(await fairleadHandovers(versions, { groups: 3, kind: 'set' }))
    for (const [name, compare] of Object.entries(comparators))
      theirs.set(name, [...(theirs.get(name) ?? []), await compare(versions)])
    say(`write stops: round ${round + 1} of ${rounds}`)
  }
  // Only counters show a write that was carried out twice. The comparators write keys, so doubled writes are
  // not compared.
  for (const groups of [1, 3]) counting.push(await fairleadHandovers(versions, { groups, kind: 'incr' }))
  return {
    goals: judgeStops({
      single: stopsOf(ours.single),
      sharded: stopsOf(ours.sharded),
      failover: stopsOf(theirs.get('failover')),
      clusterFailover: stopsOf(theirs.get('clusterFailover')),
    }),
    details: {
      write_stops: [
        told('Fairlead, one group', ours.single),
        told('Fairlead, three groups', ours.sharded),
        told('Fairlead, INCR', counting),
        ...[...theirs.values()].map((runs) => ({
          name: runs[0]?.name ?? '',
          handovers: stopsOf(runs).length,
          ledger_ms: spread(stopsOf(runs)),
          calm_ms: spread(runs.map(({ calmMs }) => calmMs)),
          ...sums(runs.map((run) => ({ ...run, duplicated: 0 }))),
        })),
      ],
    },
    ...sums([...ours.single, ...ours.sharded, ...counting]),
  }
}

function stopsOf(runs: readonly { readonly writeStopsMs: readonly number[] }[] = []): readonly number[] {
  return runs.flatMap(({ writeStopsMs }) => writeStopsMs)
}

function told(name: string, runs: readonly FairleadHandovers[]) {
  return {
    name,
    handovers: stopsOf(runs).length,
    ledger_ms: spread(stopsOf(runs)),
    calm_ms: spread(runs.map(({ calmMs }) => calmMs)),
    certificate_ms: spread(runs.flatMap(({ certifiedMs }) => certifiedMs)),
    full_syncs: runs.reduce((sum, { fullSyncs }) => sum + fullSyncs, 0),
    ...sums(runs),
  }
}

const comparators = { failover: failoverCommand, clusterFailover, sentinel: sentinelFailover }

export async function measureSeconds(
  versions: Versions,
  { rounds, say, megabytes }: Rounds & { readonly megabytes: number },
): Promise<Measured> {
  const runs = []
  for (let round = 0; round < rounds; round += 1) {
    const upgrade = await upgradeSeconds(versions, { megabytes })
    const bare = await bareFloor(versions, { megabytes })
    runs.push({ upgrade, bare, floor: bare.fullSyncSeconds + bare.restartSeconds })
    say(`seconds of an upgrade: round ${round + 1} of ${rounds}`)
  }
  return {
    goals: [judgeSeconds(runs.map(({ upgrade, floor }) => ({ upgrade: upgrade.seconds, floor })))],
    details: {
      upgrade_seconds: runs.map(({ upgrade, bare }) => ({
        upgrade: upgrade.seconds,
        full_sync: bare.fullSyncSeconds,
        restart: bare.restartSeconds,
        held_back_after_full_sync: bare.heldBackSeconds,
      })),
    },
    ...sums(runs.map(({ upgrade }) => upgrade)),
  }
}

export async function measureParallel(
  versions: Versions,
  { rounds, say, ...wanted }: Rounds & { readonly groups: number; readonly canary: boolean },
): Promise<Measured> {
  const found = []
  for (let round = 0; round < rounds; round += 1) {
    const one = await parallelUpgrade(versions, { ...wanted, parallel: 1 })
    const four = await parallelUpgrade(versions, { ...wanted, parallel: 4 })
    const all = await parallelUpgrade(versions, { ...wanted, parallel: 0 })
    found.push({ one, four, all })
    say(`${wanted.groups} groups: round ${round + 1} of ${rounds}`)
  }
  const runs = found.flatMap(({ one, four, all }) => [one, four, all])
  return {
    goals: judgeParallel(
      found.map(({ one, four, all }) => ({ one: one.seconds, four: four.seconds, all: all.seconds })),
    ),
    details: {
      parallel_upgrades: runs.map((run) => ({
        parallel_shards_upgrade: run.parallel,
        seconds: run.seconds,
        first_handover_seconds: run.firstHandoverSeconds,
        last_handover_seconds: run.lastHandoverSeconds,
      })),
    },
    ...sums(runs),
  }
}

function sums(runs: readonly Checked[]): Checked {
  const sum = (of: (run: Checked) => number) => runs.reduce((total, run) => total + of(run), 0)
  return {
    acked: sum(({ acked }) => acked),
    lost: sum(({ lost }) => lost),
    duplicated: sum(({ duplicated }) => duplicated),
    unknown: sum(({ unknown }) => unknown),
  }
}
