import type { Action, OrderName } from '@fairlead/api'

/** The moment at which tests read an action. */
export const NOW = '2026-11-26T07:42:00.000Z'
const began = '2026-11-26T07:39:14.000Z'
const moved = '2026-11-26T07:39:19.165Z'
const runs = (engine: 'redis' | 'valkey', engine_version: string) => ({ engine, engine_version, modules: [] })

/** The orders that may be given now: these, and no others. */
export function ordersOf(...may: readonly OrderName[]): Action['orders'] {
  const names: readonly OrderName[] = ['pause', 'resume', 'cancel', 'rollback', 'finalize', 'redo', 'retry']
  return Object.fromEntries(names.map((name) => [name, { ok: may.includes(name) }])) as Action['orders']
}

/** A wait for a person. */
export const waiting: NonNullable<Action['waiting']> = {
  on: 'person',
  hold_reason: null,
  shard: null,
  since: moved,
  until: null,
  why: 'everything is ready',
}

/** An upgrade of database 1, with the fields that the words of the console read. */
export function actionOf(phase: Action['phase'], more: Partial<Action> = {}): Action {
  const isEnded = phase === 'ended'
  return {
    action_uid: 'a',
    name: 'SMUpgradeBDB',
    bdb_uid: 1,
    phase,
    outcome: null,
    lanes: [],
    began_time: began,
    ended_time: isEnded ? moved : null,
    window_ends: null,
    waiting: null,
    from: runs('redis', '7.0.15'),
    goal: runs('valkey', '8.1.1'),
    orders: ordersOf(),
    warnings: [],
    ...more,
  } as unknown as Action
}
