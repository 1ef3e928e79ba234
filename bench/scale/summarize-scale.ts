import { median } from '../median.ts'

/** The measurements with this many simulated databases: medians of the rounds. */
export interface ScaleRun {
  readonly databases: number
  /** From POST to 200, for an upgrade of the real database. */
  readonly acceptedMs: number
  /** From the end of a step on the node to the end of its action. */
  readonly noticedMs: number
  /** The restart-upgrade of the real database. */
  readonly upgradeMs: number
  /** Processor time of the idle server, in cores. */
  readonly idleCores: number
  readonly rssBytes: number
  /**
   * What the idle server wrote to its store: pages, or rows without those of leases (open-fleet-store.ts).
   */
  readonly idleWritesASecond: number
  /** Commands that the idle server sent to simulated engines. */
  readonly idleCommandsASecond: number
  /** Connections to simulated engines at the end of the idle time. */
  readonly tunnels: number
  /** One page of GET /v1/bdbs; null if there are no pages. */
  readonly pageMs: number | null
  /** GET /v1/bdbs without a limit. */
  readonly listMs: number
}

/** A goal, the measured value, and whether the goal is met. */
export interface Judged {
  readonly what: string
  readonly value: string
  readonly goal: string
  /** Null: there is no goal for this value. */
  readonly met: boolean | null
}

const FLAT = 1.5
/** The number of databases in one page. */
export const PAGE = 100
const MOST_CORES = 0.05
const MOST_RSS_BYTES = 400 * 1_024 * 1_024

/**
 * Judges the smallest run (for a page: the smallest that fills one) and the largest; both must exist. A value
 * that should be constant may be 1.5 times as high in the largest.
 */
export function judgeScale(runs: readonly ScaleRun[]): readonly Judged[] {
  const sorted = runs.toSorted((a, b) => a.databases - b.databases)
  const [least, most] = [sorted.at(0), sorted.at(-1)]
  if (least === undefined || most === undefined) throw new Error('nothing was measured')
  const flat = (
    what: string,
    pick: (run: ScaleRun) => number | null,
    from: ScaleRun | undefined = least,
  ): readonly Judged[] => {
    const [few, many] = [pick(from), pick(most)]
    if (few === null || many === null || from === most) return []
    const ratio = many / few
    return [{ what, value: `${ratio.toFixed(2)} ×`, goal: `≤ ${FLAT} ×`, met: ratio <= FLAT }]
  }
  return [
    ...flat('acceptance of an upgrade', ({ acceptedMs }) => acceptedMs),
    ...flat('until a finished step is noticed', ({ noticedMs }) => Math.max(1, noticedMs)),
    ...flat('restart-upgrade of the real database', ({ upgradeMs }) => upgradeMs),
    // Ten databases make no page of a hundred.
    ...flat(
      `a page of ${PAGE} of GET /v1/bdbs`,
      ({ pageMs }) => pageMs,
      sorted.find(({ databases }) => databases >= PAGE) ?? most,
    ),
    {
      what: 'idle server, of a core',
      value: `${(most.idleCores * 100).toFixed(1)} %`,
      goal: `≤ ${MOST_CORES * 100} %`,
      met: most.idleCores <= MOST_CORES,
    },
    {
      what: 'memory of the idle server',
      value: `${toMb(most.rssBytes)} MB`,
      goal: `≤ ${toMb(MOST_RSS_BYTES)} MB`,
      met: most.rssBytes <= MOST_RSS_BYTES,
    },
    {
      what: 'written to the store for idle databases, a second',
      value: most.idleWritesASecond.toFixed(1),
      goal: '0',
      met: most.idleWritesASecond === 0,
    },
  ]
}

/** With real engines: idle databases, and what is created beside bare engines. */
export interface RealRun {
  readonly databases: number
  readonly serverCores: number
  readonly agentCores: number
  readonly aloneMs: readonly number[]
  readonly amongMs: readonly number[]
  /**
   * Creation of so many databases, and the start of as many engines, bare and as shards within walls; in ms.
   */
  readonly created: {
    readonly count: number
    readonly ms: number
    readonly bareMs: number
    readonly walledMs: number
  }
}

const MOST_IDLE_CORES = 0.1
const MOST_AMONG = 1.3
const MOST_CREATION = 1.5

export function judgeReal({
  serverCores,
  agentCores,
  aloneMs,
  amongMs,
  created,
}: RealRun): readonly Judged[] {
  const idle = serverCores + agentCores
  const among = median(amongMs) / median(aloneMs)
  const creation = created.ms / created.bareMs
  return [
    {
      what: 'idle server and agent, of a core',
      value: `${(idle * 100).toFixed(1)} % (${(serverCores * 100).toFixed(1)} and ${(agentCores * 100).toFixed(1)})`,
      goal: `≤ ${MOST_IDLE_CORES * 100} %`,
      met: idle <= MOST_IDLE_CORES,
    },
    {
      what: 'an upgrade among them, beside alone',
      value: `${seconds(median(amongMs))} / ${seconds(median(aloneMs))} s, ${among.toFixed(2)} ×`,
      goal: `≤ ${MOST_AMONG} ×`,
      met: among <= MOST_AMONG,
    },
    {
      what: `creation of ${created.count} databases, beside bare engines`,
      value: `${seconds(created.ms)} / ${seconds(created.bareMs)} s, ${creation.toFixed(2)} ×`,
      goal: `≤ ${MOST_CREATION} ×`,
      met: creation <= MOST_CREATION,
    },
    {
      what: 'the same, beside engines with their settings within walls',
      value: `${seconds(created.walledMs)} s, ${(created.ms / created.walledMs).toFixed(2)} ×`,
      goal: '',
      met: null,
    },
  ]
}

function toMb(bytes: number): number {
  return Math.round(bytes / 1_024 / 1_024)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
