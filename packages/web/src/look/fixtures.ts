import type { Action, Certificate, Database, HandoverTrace, OrderName, Shard } from '@fairlead/api'
import type { Lane, Step } from '../words/fold-steps.ts'

/** All stories are told at this moment. */
export const NOW = '2026-11-26T07:42:00.000Z'
const began = '2026-11-26T07:39:14.000Z'
const moved = '2026-11-26T07:39:19.165Z'
const runs = (engine: 'redis' | 'valkey', engine_version: string) => ({ engine, engine_version, modules: [] })

/** A handover that was measured. */
export const certificate: Certificate = {
  ...{
    from: '1',
    to: '11',
    replid: '4967ff00'.repeat(5),
    offset_from: 281_602,
    offset_to: 281_602,
    keys: 2_140,
  },
  ...{
    write_stop_ms: 2.85,
    held_ms: 5.64,
    group: 0,
    clients_held: 9,
    requests_held: 9,
    longest_wait_ms: 5.64,
  },
  phases: { hold: 0.8, pause: 0.55, equal: 0.9, promote: 1.4, release: 1.99 },
  ...{ recovered: false, full_syncs: 0, at: moved },
}
/** One that was put together after a crash. */
export const recovered: Certificate = {
  ...{ ...certificate, write_stop_ms: 34, recovered: true, held_ms: null, phases: null },
  ...{ clients_held: null, requests_held: null, longest_wait_ms: null, full_syncs: null, keys: null },
}

const step = (
  op_name: Step['op_name'],
  label: string,
  state: Step['state'],
  more: Partial<Step> = {},
): Step => ({
  ...{ op_name, label, state, shard: '11', from: null, role: null, why: '' },
  ...{ began: state === 'planned' ? null : began, ended: state === 'done' ? moved : null },
  ...more,
})

/** A group, as far as `state` says. */
export function laneOf(group: number, state: Lane['state'], more: Partial<Lane> = {}): Lane {
  const isDone = state === 'done'
  return {
    ...{ group, state, handed_over: isDone, waiting: null, steps_left_out: 0, sync: null, lag_bytes: null },
    steps: [
      step('start-shard', 'Add a shard', 'done'),
      step('enable-aof', 'Switch on the append-only file', isDone ? 'done' : 'running'),
      step('hand-over', 'Hand over', isDone ? 'done' : 'planned', { from: '1' }),
      step('retire-shard', 'Retire the shard', isDone ? 'done' : 'planned', { shard: '1' }),
    ],
    ...more,
  } as Lane
}

const no = { ok: false, error_code: 'order_not_applicable', why: 'it does not apply now', consequence: '' }
/** What may be ordered: these, and no others. */
export function ordersOf(...may: readonly OrderName[]): Action['orders'] {
  const names: readonly OrderName[] = ['pause', 'resume', 'cancel', 'rollback', 'finalize', 'redo', 'retry']
  const yes = { ok: true, error_code: null, why: '', consequence: 'every role goes back, without loss' }
  return Object.fromEntries(names.map((name) => [name, may.includes(name) ? yes : no])) as Action['orders']
}

/** Why something waits. */
export const waiting: NonNullable<Action['waiting']> = {
  ...{ on: 'person', hold_reason: null, shard: null, since: moved, until: null },
  why: 'everything is ready; the upgrade is supervised and goes on when a user resumes it',
}

/** An upgrade of orders. */
export function actionOf(phase: Action['phase'], more: Partial<Action> = {}): Action {
  const isEnded = phase === 'ended'
  return {
    ...{
      action_uid: `${phase} ${more.outcome ?? ''}`,
      name: 'SMUpgradeBDB',
      object_name: 'bdb:1',
      bdb_uid: 1,
    },
    ...{ status: isEnded ? 'completed' : 'active', phase, outcome: null, paused: phase === 'paused' },
    ...{ creation_time: began, began_time: began, ended_time: isEnded ? moved : null, window_ends: null },
    ...{ heartbeat: Date.parse(NOW) / 1_000, requested_by: 'eve', warnings: [], waiting: null },
    ...{ from: runs('redis', '7.0.15'), goal: runs('valkey', '8.1.1'), orders: ordersOf() },
    ...{ lanes: [laneOf(0, isEnded ? 'done' : 'running')], certificates: [certificate] },
    ...more,
    // What the stories read, and no more.
  } as unknown as Action
}

/** A database as lists have it. */
export function databaseOf(uid: number, name: string, more: Partial<Database> = {}): Database {
  return {
    ...{ uid, name, status: 'active', status_reason: '', memory_size: 256 << 20, shards_count: 3 },
    ...{
      ...runs('redis', '7.0.15'),
      replication: true,
      module_list: [],
      upgradable_to: runs('valkey', '9.1.2'),
    },
    ...{ endpoints: [{ addr: ['127.0.0.1'], port: 26_000 + uid, dns_name: 'localhost' }] },
    ...more,
    // What the stories read, and no more.
  } as unknown as Database
}

/** A process of a group. */
export function shardOf(uid: number, group: number, more: Partial<Shard> = {}): Shard {
  return {
    ...{ uid: `${uid}`, group, assigned_slots: group === 0 ? '0-8191' : '8192-16383', port: 20_000 + uid },
    ...{
      ...runs('redis', '7.0.15'),
      role: 'master',
      duty: 'primary',
      detailed_status: 'ok',
      status_reason: '',
    },
    ...{ link: 'up', lag_bytes: null, used_memory: 3_250_586, started: began },
    ...more,
    // What the stories read, and no more.
  } as unknown as Shard
}

/** Clients of a handover. `errors`: how many replies of its last bucket were errors. */
export function traceOf(most: number, errors = 0): HandoverTrace {
  const buckets = Array.from({ length: 80 }, (_, n) => n)
  const isHeld = (n: number) => n === 40 || n === 41
  return {
    ...{ action_uid: 'a', handover: 1, group: 0, from: '1', to: '11', t0: moved, bucket_ms: 10 },
    replies: buckets.map((n) => (isHeld(n) ? 0 : Math.round(most * (0.7 + 0.3 * Math.sin(n / 3))))),
    held: buckets.map((n) => (isHeld(n) ? Math.ceil(most / 20) : 0)),
    errors: buckets.map((n) => (n === 42 ? errors : 0)),
    marks: {
      ...{ hold: { from: 400, to: 402 }, pause: { from: 402, to: 404 }, equal: { from: 404, to: 408 } },
      ...{ promote: { from: 408, to: 412 }, release: { from: 412, to: 418 } },
    },
  }
}
