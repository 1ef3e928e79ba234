import { setTimeout as pause } from 'node:timers/promises'
import { type Action, ApiError, type Body, type upgradeDatabase } from '@fairlead/api'
import type { Fairlead } from './start-fairlead.ts'

/**
 * What people do once every group has handed over: nothing, a rollback, a rollback that is reversed again, or
 * a request for one that is refused.
 */
export type Afterwards = 'finish' | 'roll back' | 'roll back twice' | 'ask in vain'

export interface Course {
  readonly uid: number
  readonly to: string
  /** Upgraded with the engine, in the same restart. */
  readonly modules?: Body<typeof upgradeDatabase>['modules']
  readonly preserveRoles: boolean
  readonly supervised: boolean
  readonly afterwards: Afterwards
  /** Awaited between two orders, so that the database is written to in each state. */
  readonly meanwhile: () => Promise<void>
}

/** No step of a small database takes longer, even on a busy machine. */
const WITHIN_MS = 120_000

/**
 * Upgrades a database through the API, as people would, to the end that `afterwards` names. Returns the
 * actions that took: one, or two if a rollback had ended before it could be reversed. Throws when one ends
 * otherwise.
 */
export async function goThroughUpgrade(fairlead: Fairlead, course: Course): Promise<readonly Action[]> {
  const { api } = fairlead
  const { afterwards } = course
  const { action_uid: first = '' } = await api.upgradeDatabase({
    params: { uid: course.uid },
    body: {
      engine_version: course.to,
      ...(course.modules && { modules: course.modules }),
      preserve_roles: course.preserveRoles,
      supervised: course.supervised,
      rollback_window: afterwards === 'finish' ? 0 : 'until_finalized',
    },
  })
  await passStop(fairlead, first, course)
  if (afterwards === 'finish') return [await ended(fairlead, first, 'completed')]

  await untilWindow(fairlead, first, course)
  if (afterwards === 'ask in vain') {
    await expectNoWayBack(fairlead, first)
    await api.finalizeAction({ params: { uid: first } })
    return [await ended(fairlead, first, 'completed')]
  }
  await api.rollbackAction({ params: { uid: first } })
  if (afterwards === 'roll back') return [await ended(fairlead, first, 'failed')]

  const second = await turnRound(fairlead, first)
  if (second !== first) await passStop(fairlead, second, course)
  await untilWindow(fairlead, second, course)
  await api.finalizeAction({ params: { uid: second } })
  const last = await ended(fairlead, second, 'completed')
  return second === first ? [last] : [await api.getAction({ params: { uid: first } }), last]
}

/** Waits for the stop of a supervised upgrade before its first handover, and resumes it. */
async function passStop({ api }: Fairlead, uid: string, { supervised, meanwhile }: Course): Promise<void> {
  if (!supervised) return
  const action = await untilIt(api, uid, ({ hold_reason }) => hold_reason === 'supervised')
  if (action.certificates.length > 0) throw new Error('it handed over before it was resumed')
  await meanwhile()
  await api.resumeAction({ params: { uid } })
}

/** Waits until every group has handed over, and the old primaries follow as standbys. */
async function untilWindow(fairlead: Fairlead, uid: string, course: Course): Promise<void> {
  const hasWayBack = course.afterwards !== 'ask in vain'
  await untilIt(fairlead.api, uid, ({ rollback_eligible, hold_reason }) => {
    return rollback_eligible === hasWayBack && hold_reason === 'until_finalized'
  })
  await course.meanwhile()
}

async function expectNoWayBack({ api }: Fairlead, uid: string): Promise<void> {
  const refusal: unknown = await api.rollbackAction({ params: { uid } }).catch((error: unknown) => error)
  if (!(refusal instanceof ApiError) || refusal.code !== 'rollback_not_possible')
    throw new Error('the rollback was not refused', { cause: refusal })
}

/** Reverses a rollback while it runs, or begins a new action when the rollback has ended already. */
async function turnRound({ api, untilEnded }: Fairlead, uid: string): Promise<string> {
  const known = await api.getAction({ params: { uid } })
  // Waits until the rollback has begun: otherwise there would be nothing to reverse.
  await untilIt(api, uid, ({ certificates, status }) => {
    return status === 'failed' || certificates.length > known.certificates.length
  })
  try {
    return (await api.redoAction({ params: { uid } })).action_uid
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'action_ended') throw error
    await untilEnded(uid)
    return (await api.retryAction({ params: { uid } })).action_uid
  }
}

async function ended(fairlead: Fairlead, uid: string, as: 'completed' | 'failed'): Promise<Action> {
  const action = await fairlead.untilEnded(uid, WITHIN_MS)
  if (action.status === as) return action
  throw new Error(`${action.name} ended ${action.status}, not ${as}: ${action.error ?? ''}`)
}

async function untilIt(
  api: Fairlead['api'],
  uid: string,
  fits: (action: Action) => boolean,
): Promise<Action> {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const action = await api.getAction({ params: { uid } })
    if (fits(action)) return action
    if (action.status === 'completed' || action.status === 'failed')
      throw new Error(`${action.name} ended ${action.status} too early: ${action.error ?? ''}`)
    if (performance.now() > deadline)
      throw new Error(`not within ${WITHIN_MS} ms what was waited for: ${JSON.stringify(action)}`)
    await pause(20)
  }
}
