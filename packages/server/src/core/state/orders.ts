import type { Goal } from './goal.ts'
import type { Obstacle } from './obstacle.ts'

/** The orders of people for a running action. */
export interface Orders {
  /** Paused: nothing new is begun. Faults are still repaired. */
  readonly paused: boolean
  /** The supervised stop is passed. */
  readonly proceed: boolean
  /** The rollback window is over, whatever time it has left. */
  readonly finalize: boolean
}

/** The orders of an action that got none. */
export const noOrders: Orders = { paused: false, proceed: false, finalize: false }

/** What a plan may do now, according to the orders of people and the time. */
export interface Allowed {
  readonly paused: boolean
  readonly mayHandOver: boolean
  readonly mayFinalize: boolean
  /** Why not, for people. */
  readonly onFinalize: { readonly on: 'person' | 'time' } & Obstacle
}

/** The permissions of a plan without restrictions. */
export const unrestricted: Allowed = {
  paused: false,
  mayHandOver: true,
  mayFinalize: true,
  onFinalize: { on: 'time', code: 'rollback_window', why: '' },
}

/**
 * `handedOverAt`: when the last group handed over, in Unix milliseconds; null before. An undo needs no
 * approval.
 */
export function allowedBy(goal: Goal, orders: Orders, handedOverAt: number | null, now: number): Allowed {
  const { supervised, rollbackWindow } = goal.policy
  if (goal.undo) return { ...unrestricted, paused: orders.paused }
  const endsAt = handedOverAt === null ? null : windowEndsAt(goal, new Date(handedOverAt).toISOString())
  return {
    paused: orders.paused,
    mayHandOver: !supervised || orders.proceed,
    mayFinalize: orders.finalize || rollbackWindow === 0 || (endsAt !== null && now >= endsAt),
    onFinalize:
      endsAt === null
        ? {
            on: 'person',
            code: 'until_finalized',
            why: 'the old primaries stay as standbys until a user finalizes or rolls back',
          }
        : {
            on: 'time',
            code: 'rollback_window',
            why: `the old primaries stay as standbys until ${new Date(endsAt).toISOString().replace(/\.\d+Z$/, 'Z')}, or until a user finalizes or rolls back`,
          },
  }
}

/** When the rollback window ends by itself, Unix milliseconds; null: it does not. `handedOverAt` is ISO 8601. */
export function windowEndsAt({ policy }: Pick<Goal, 'policy'>, handedOverAt: string): number | null {
  const { rollbackWindow } = policy
  return rollbackWindow === 'until-finalized' ? null : Date.parse(handedOverAt) + rollbackWindow * 1000
}
