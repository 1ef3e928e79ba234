import type { Obstacle } from '../state/obstacle.ts'

/** Upgrades that run at the same time over all databases, except those that wait for a person or a time. */
export const UPGRADES_AT_ONCE = 8

/** The queue's view of an action. Status and step are recorded texts; few of their values matter here. */
export interface Queued {
  readonly uid: string
  readonly kind: string
  readonly status: string
  readonly step: string
  readonly needsPerson: boolean
  readonly createdAt: string
}

/** Reason for an upgrade's wait for others. */
export interface NotAdmitted extends Obstacle {
  /** Other upgrades that must end, or begin to wait, before it may begin. */
  readonly places: number
}

/** Returns why a queued upgrade may not begin yet, or undefined. First come, first served. */
export function whyNotAdmitted(action: Queued, active: readonly Queued[]): NotAdmitted | undefined {
  if (action.status !== 'queued' || action.kind !== 'upgrade') return undefined
  const upgrades = active.filter(({ kind, uid }) => kind === 'upgrade' && uid !== action.uid)
  const busy = upgrades.filter(
    ({ status, step, needsPerson }) => status === 'running' && step !== 'hold' && !needsPerson,
  )
  const before = upgrades.filter((other) => other.status === 'queued' && isBefore(other, action))
  if (busy.length + before.length < UPGRADES_AT_ONCE) return undefined
  const why = `${busy.length} other upgrade(s) run and ${before.length} are ahead in the queue; at most ${UPGRADES_AT_ONCE} run at once`
  return { code: 'queued', why, places: busy.length + before.length + 1 - UPGRADES_AT_ONCE }
}

function isBefore(a: Queued, b: Queued): boolean {
  return a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt
}
