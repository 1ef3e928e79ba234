import { compareVersions } from '@fairlead/engine'
import type { Goal } from '../state/goal.ts'
import { replicationPath } from '../state/replication-paths.ts'
import { isBefore62 } from '../state/way-back.ts'
import type { Foreseen } from './foresee.ts'

/** For how long one group could go back without loss after its handover. */
export interface PlannedWayBack {
  /**
   * `never`: not after its handover; `handover`: until the last group's; `time`: `seconds` longer;
   * `finalized`: until a user finalizes.
   */
  readonly until: 'never' | 'handover' | 'time' | 'finalized'
  readonly seconds: number | null
  readonly why: string
}

/** Plans the way back of one group with these steps. */
export function planWayBack(goal: Goal, steps: readonly Foreseen[]): PlannedWayBack {
  const never = (why: string) => ({ until: 'never' as const, seconds: null, why })
  if (goal.discard) return never('the data is discarded, as requested')
  if (steps.some(({ step }) => step.kind === 'restart-primary'))
    return never('its only shard restarts in place: there is no old primary that could take over again')
  const { from, build, policy } = goal
  if (from !== null && isBefore62(from.build) && !isBefore62(build))
    return never(
      `${from.build.flavour} ${from.build.version} does not report which commands of a newer primary it could not execute`,
    )
  const kept = 'the old primary follows the new one as a standby, and has every write'
  if (policy.rollbackWindow === 'until-finalized') return { until: 'finalized', seconds: null, why: kept }
  if (policy.rollbackWindow > 0) return { until: 'time', seconds: policy.rollbackWindow, why: kept }
  return { until: 'handover', seconds: null, why: kept }
}

/** Returns if, and why, another upgrade could lead to the old build after the way back has ended. */
export function wayAfterwards({ from, build }: Goal): { readonly possible: boolean; readonly why: string } {
  if (from === null) return { possible: false, why: 'there is no build to go back to' }
  const before = from.build
  const old = `${before.flavour} ${before.version}`
  if (before.flavour === build.flavour && compareVersions(before.version, build.version) < 0)
    return { possible: false, why: `${old} is older than ${build.version}, and no target of an upgrade then` }
  const { obstacle } = replicationPath(build, before)
  if (obstacle !== undefined) return { possible: false, why: obstacle }
  return {
    possible: true,
    why: `another upgrade can lead to ${old}: its surge shard shows whether it reads the data`,
  }
}
