const ended = '2026-11-26T00:00:09.000Z'
const at = '2026-11-26T00:00:00.000Z'
const no = { ok: false, error_code: 'order_not_applicable', why: 'it does not apply', consequence: '' }
const orders = { pause: no, resume: no, cancel: no, rollback: no, finalize: no, redo: no, retry: no }
const runs = (engine: string, engine_version: string) => ({ engine, engine_version, modules: [] })

/**
 * What the API would answer of this many databases and actions, as far as the console reads it. Uid 1 is
 * upgraded in `groups` groups.
 */
export function makeFixture(size: {
  readonly databases: number
  readonly actions: number
  readonly groups: number
}) {
  const databases = Array.from({ length: size.databases }, (_, n) => ({
    uid: n + 1,
    name: `database-${String(n + 1).padStart(4, '0')}`,
    status: 'active',
    module_list: [],
    serving: [],
    ...runs(n % 3 === 0 ? 'redis' : 'valkey', n % 3 === 0 ? '7.0.15' : '8.1.1'),
    shards_count: 1,
    replication: true,
    memory_size: (64 + (n % 7)) << 20,
    data_persistence: 'aof',
    upgradable_to: { engine: 'valkey', engine_version: '9.1.2' },
    endpoints: [{ dns_name: '127.0.0.1', addr: ['127.0.0.1'], port: 6_000 + n }],
  }))
  const actions = Array.from({ length: size.actions }, (_, n) => ({
    action_uid: `ended-${n}`,
    name: 'SMUpgradeBDB',
    object_name: `bdb:${(n % size.databases) + 1}`,
    status: 'completed',
    phase: 'ended',
    outcome: 'completed',
    bdb_uid: (n % size.databases) + 1,
    creation_time: at,
    began_time: at,
    ended_time: ended,
    requested_by: 'eve',
    heartbeat: 0,
    warnings: [],
    from: runs('redis', '7.0.15'),
    goal: runs('valkey', '8.1.1'),
    orders,
    waiting: null,
    window_ends: null,
    certificates: [{ ...certificateOf(0), write_stop_ms: 2 + (n % 90) / 10 }],
  }))
  const moving = {
    ...actions[0],
    action_uid: 'moving',
    status: 'active',
    phase: 'preparing',
    outcome: null,
    ended_time: null,
    certificates: [],
    lanes: Array.from({ length: size.groups }, (_, group) => laneOf(group)),
  }
  return { databases, actions, moving }
}

const steps = [
  ['start-shard', 'Add a shard'],
  ['enable-aof', 'Switch on the append-only file'],
  ['hand-over', 'Hand over'],
  ['stop-shard', 'Retire the shard'],
] as const

function laneOf(group: number) {
  return {
    group,
    state: 'running',
    handed_over: false,
    waiting: null,
    steps_left_out: 0,
    sync: null,
    lag_bytes: 0,
    steps: steps.map((_, place) => stepOf(group, place, 'planned')),
  }
}

/** A step of a lane. */
export function stepOf(group: number, place: number, state: 'done' | 'running' | 'planned') {
  const [op_name, label] = steps[place % steps.length] ?? steps[0]
  return {
    op_name,
    label,
    shard: `${group + 100}`,
    from: op_name === 'hand-over' ? `${group}` : null,
    role: null,
    state,
    began: state === 'planned' ? null : at,
    ended: state === 'done' ? ended : null,
    why: '',
  }
}

/** A certificate of a group. */
export function certificateOf(group: number) {
  return {
    group,
    from: `${group}`,
    to: `${group + 100}`,
    at: `2026-11-26T00:00:${String(group % 60).padStart(2, '0')}.000Z`,
    write_stop_ms: 2 + (group % 7),
    held_ms: null,
    offset_from: 100,
    offset_to: 100,
    replid: 'a'.repeat(40),
    keys: 10,
    full_syncs: 0,
    recovered: false,
    phases: null,
    clients_held: 1,
    requests_held: 1,
    longest_wait_ms: 3,
  }
}
