import { median } from '../median.ts'

/**
 * What was measured beside what it is compared with, and whether that is the goal. Medians over the rounds.
 */
export interface Judged {
  readonly what: string
  readonly ours: number
  readonly beside: string
  readonly theirs: number
  readonly unit: 'ms' | 's'
  /** Above 1 where more is better ("times shorter"); else `ours` in parts of `theirs`. */
  readonly ratio: number
  readonly goal: string
  readonly met: boolean
}

/** Of all handovers: the longest time without an acknowledged write to the group, by the ledger, in ms. */
export interface Stops {
  readonly single: readonly number[]
  readonly sharded: readonly number[]
  readonly failover: readonly number[]
  readonly clusterFailover: readonly number[]
}

export function judgeStops({ single, sharded, failover, clusterFailover }: Stops): readonly Judged[] {
  const [one, theirs] = [median(single), median(failover)]
  const [three, inCluster] = [median(sharded), median(clusterFailover)]
  return [
    {
      what: 'write stop, one group',
      ours: round(one, 1),
      beside: 'FAILOVER TO',
      theirs: round(theirs, 1),
      unit: 'ms',
      ratio: round(theirs / one, 1),
      goal: '≥ 30 times shorter',
      met: theirs / one >= 30,
    },
    {
      what: 'write stop, each of three groups',
      ours: round(three, 1),
      beside: 'CLUSTER FAILOVER',
      theirs: round(inCluster, 1),
      unit: 'ms',
      ratio: round(inCluster / three, 1),
      goal: 'shorter',
      met: inCluster > three,
    },
  ]
}

/** Of one round, in seconds: the upgrade, and the floor measured after it. */
export interface TimedUpgrade {
  readonly upgrade: number
  readonly floor: number
}

/** Each round is compared with its own floor, because the machine's speed changes. */
export function judgeSeconds(rounds: readonly TimedUpgrade[]): Judged {
  const above = median(rounds.map(({ upgrade, floor }) => upgrade - (1.3 * floor + 2)))
  return {
    what: 'upgrade of a replicated database',
    ours: round(median(rounds.map(({ upgrade }) => upgrade)), 2),
    beside: 'floor: one full sync, one restart',
    theirs: round(median(rounds.map(({ floor }) => floor)), 2),
    unit: 's',
    ratio: round(median(rounds.map(({ upgrade, floor }) => upgrade / floor)), 2),
    goal: '≤ 1.3 × floor + 2 s',
    met: rounds.length > 0 && above <= 0,
  }
}

/** Of one round, in seconds, by `parallel_shards_upgrade`. */
export interface ParallelRound {
  readonly one: number
  readonly four: number
  readonly all: number
}

/** The goal is for 4 at once; the value for all at once is shown, too. */
export function judgeParallel(rounds: readonly ParallelRound[]): readonly Judged[] {
  const judge = (what: string, pick: (round: ParallelRound) => number): Judged => {
    const ratio = median(rounds.map((one) => pick(one) / one.one))
    return {
      what,
      ours: round(median(rounds.map(pick)), 2),
      beside: 'parallel_shards_upgrade 1',
      theirs: round(median(rounds.map(({ one }) => one)), 2),
      unit: 's',
      ratio: round(ratio, 2),
      goal: '≤ 0.4 of it',
      met: rounds.length > 0 && ratio <= 0.4,
    }
  }
  return [
    judge('parallel_shards_upgrade 4', ({ four }) => four),
    judge('parallel_shards_upgrade 0 (all)', ({ all }) => all),
  ]
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
