import type { Goal } from './goal.ts'
import type { Obstacle } from './obstacle.ts'

/** People's orders for a running action. */
export interface Orders {
  /** True: no new work begins; faults are still repaired. */
  readonly paused: boolean
  /** True: the supervised stop is passed. */
  readonly proceed: boolean
  /** True: the rollback window is over, whatever time is left. */
  readonly finalize: boolean
}

/** Orders of an action without any. */
export const noOrders: Orders = { paused: false, proceed: false, finalize: false }

/** Permissions of a plan now, from people's orders and the time. */
export interface Allowed {
  readonly paused: boolean
  readonly mayHandOver: boolean
  readonly mayFinalize: boolean
  /** Reason for not finalizing, for people. */
  readonly onFinalize: { readonly on: 'person' | 'time' } & Obstacle
}

/** Permissions of a plan without restrictions. */
export const unrestricted: Allowed = {
  paused: false,
  mayHandOver: true,
  mayFinalize: true,
  onFinalize: { on: 'time', code: 'rollback_window', why: '' },
}

/** `handedOverAt`: time of the last group's handover (Unix ms); null before. An undo needs no approval. */
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

/** Returns when the rollback window ends by time (Unix ms), or null. `handedOverAt`: ISO 8601. */
export function windowEndsAt({ policy }: Pick<Goal, 'policy'>, handedOverAt: string): number | null {
  const { rollbackWindow } = policy
  return rollbackWindow === 'until-finalized' ? null : Date.parse(handedOverAt) + rollbackWindow * 1000
}
