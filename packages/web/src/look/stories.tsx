import { ApiError, type ErrorObstacle, type ShardDuty, shardDuties } from '@fairlead/api'
import type { ReactNode } from 'react'
import { Certificates } from '../pages/actions/certificates.tsx'
import { Headline } from '../pages/actions/headline.tsx'
import { Lanes } from '../pages/actions/lanes.tsx'
import { MomentChart } from '../pages/actions/moment-chart.tsx'
import { WriteStopStrip } from '../pages/actions/write-stop-strip.tsx'
import { databaseColumns } from '../pages/databases/database-columns.tsx'
import { ShardsCard } from '../pages/databases/shards-card.tsx'
import { NeedsYou } from '../pages/overview/needs-you.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Chip } from '../parts/live-chip.tsx'
import { OrderButton } from '../parts/order-button.tsx'
import { Empty, Problem } from '../parts/problem.tsx'
import { RoleMark } from '../parts/role-mark.tsx'
import { Table } from '../parts/table.tsx'
import { Version } from '../parts/version.tsx'
import {
  actionOf,
  certificate,
  databaseOf,
  laneOf,
  ordersOf,
  recovered,
  shardOf,
  traceOf,
  waiting,
} from './fixtures.ts'

/** A component in each of its states, by a word for the state. */
type Story = Readonly<Record<string, ReactNode>>

const refusals = { of: {}, note: () => undefined }
const busy = { error_code: 'db_busy', message: 'another action runs on the database', field: null } as const
const refused = (...obstacles: readonly ErrorObstacle[]) =>
  new ApiError(409, 'db_busy', obstacles[0]?.message ?? '', obstacles)

const headline = (...[phase, more]: Parameters<typeof actionOf>) => (
  <Headline action={actionOf(phase, more)} database={databaseOf(1, 'orders')} />
)
const stuck = { ...waiting, on: 'shard', why: 'shard 9 does not answer yet: its process has ended' } as const

const failure = [
  'shard 47 on valkey 8.1.1 cannot read the data: Failed loading library, Error registering functions',
  'Short read or OOM loading DB. Unrecoverable error, aborting now.',
  'Failed trying to load the PRIMARY synchronization DB from socket, check server logs.',
].join('; ')

/** The phases of an action. */
const headlines: Story = {
  queued: headline('queued'),
  preparing: headline('preparing'),
  ready: headline('ready', { waiting, orders: ordersOf('resume') }),
  'handing over': headline('handing_over'),
  window: headline('window', { window_ends: '2026-11-26T07:54:19.000Z' }),
  finishing: headline('finishing'),
  paused: headline('paused'),
  stuck: headline('stuck', { waiting: stuck }),
  undoing: headline('undoing'),
  completed: headline('ended', { outcome: 'completed' }),
  'rolled back': headline('ended', { outcome: 'rolled_back' }),
  cancelled: headline('ended', { outcome: 'cancelled' }),
  failed: headline('ended', {
    ...{ outcome: 'failed', error: failure, orders: ordersOf('retry') },
    lanes: [laneOf(0, 'done', { handed_over: false })],
  }),
}

const sync = { shard: '11', done: 30 << 20, total: 97 << 20, bytes_per_s: 12 << 20 } as const
/** Groups in full, and a line for each where there are many. */
const lanes: Story = {
  running: <Lanes action={actionOf('preparing', { lanes: [laneOf(0, 'running', { lag_bytes: 4_096 })] })} />,
  'full sync': <Lanes action={actionOf('preparing', { lanes: [laneOf(0, 'running', { sync })] })} />,
  stuck: <Lanes action={actionOf('stuck', { lanes: [laneOf(0, 'stuck', { waiting: stuck })] })} />,
  'done, and waiting': (
    <Lanes
      action={actionOf('handing_over', { lanes: [laneOf(0, 'done'), laneOf(1, 'waiting', { waiting })] })}
    />
  ),
  'many groups': (
    <Lanes
      action={actionOf('handing_over', {
        lanes: (['done', 'running', 'waiting', 'stuck', 'done', 'done', 'done', 'done', 'done'] as const).map(
          (state, group) => laneOf(group, state),
        ),
      })}
    />
  ),
}

const order = (name: 'resume' | 'rollback', may: boolean, isMain = false) => (
  <OrderButton
    action={actionOf('window', { orders: ordersOf(...(may ? [name] : [])) })}
    order={name}
    isMain={isMain}
    refusals={refusals}
  />
)
const row = (uid: number, name: string, more: Parameters<typeof databaseOf>[2] = {}) => ({
  database: databaseOf(uid, name, more),
  action: undefined,
  stats: { used_memory: 180 << 20, total_req: 20_100, latency_p99: 900 },
  holes: new Map([['redis-8.0.2', [{ id: 'CVE-1', what: '', reach: 'crash' as const }]]]),
})

/** Every component that carries meaning, by its name. */
export const stories: Readonly<Record<string, Story>> = {
  Headline: headlines,
  Lanes: lanes,
  WriteStopStrip: {
    one: <WriteStopStrip certificates={[certificate]} />,
    several: (
      <WriteStopStrip
        certificates={[9.23, 28.55, 28.24].map((ms, n) => ({
          ...certificate,
          write_stop_ms: ms,
          to: `${n}`,
        }))}
      />
    ),
  },
  MomentChart: {
    'under load': <MomentChart trace={traceOf(200)} around={250} took="18.0 ms" />,
    'with errors': <MomentChart trace={traceOf(200, 3)} around={250} took="18.0 ms" />,
    'no client': <MomentChart trace={traceOf(0)} around={250} took="18.0 ms" />,
  },
  Certificates: {
    measured: <Certificates action={actionOf('ended', { outcome: 'completed' })} databaseName="orders" />,
    'after a crash': (
      <Certificates action={actionOf('ended', { certificates: [recovered] })} databaseName="orders" />
    ),
  },
  ShardsCard: {
    'two groups, one not well': <ShardsCard database={databaseOf(1, 'orders')} />,
    none: <ShardsCard database={databaseOf(2, 'sessions')} />,
  },
  Table: {
    'databases, as a list': (
      <Table
        label="Databases"
        columns={databaseColumns}
        keyOf={({ database }) => database.uid}
        rows={[
          row(1, 'a-name-as-long-as-the-name-of-a-database-may-be-63-letters'),
          row(2, 'billing', {
            status: 'recovery',
            upgradable_to: { engine: 'redis', engine_version: '8.0.2' },
          }),
          row(3, 'orders', { status: 'active-change-pending', action_uid: 'a' }),
        ]}
      />
    ),
  },
  OrderButton: {
    may: order('resume', true),
    main: order('rollback', true, true),
    off: order('resume', false),
  },
  LiveChip: Object.fromEntries(
    (['live', 'connecting', 'reconnecting', 'stale', 'denied'] as const).map((kind) => [
      kind,
      <Chip key={kind} sight={{ kind, forMs: 41_000 }} />,
    ]),
  ),
  Problem: {
    'one obstacle': <Problem error={refused(busy)} />,
    several: (
      <Problem
        error={refused(busy, { error_code: 'missing_module', message: 'there is no bloom', field: null })}
      />
    ),
    'no answer': <Problem error={new Error('')} retry={() => undefined} />,
    empty: <Empty title="No database is like this">Change or clear the filters.</Empty>,
  },
  CopyButton: { plain: <CopyButton text="" label="Copy as Markdown" /> },
  Version: {
    plain: <Version of={databaseOf(1, '')} />,
    old: <Version of={databaseOf(1, '')} as="old" />,
    goal: <Version of={databaseOf(1, '')} as="goal" />,
  },
  RoleMark: Object.fromEntries(
    (Object.keys(shardDuties) as ShardDuty[]).map((role) => [role, <RoleMark key={role} role={role} />]),
  ),
  NeedsYou: {
    nothing: <NeedsYou databases={[]} actions={[]} />,
    several: (
      <NeedsYou
        databases={[
          databaseOf(1, 'orders'),
          databaseOf(2, 'billing', { status: 'recovery', status_reason: 'shard 9 is down' }),
          databaseOf(3, 'sessions'),
        ]}
        actions={[
          actionOf('ready', { waiting }),
          actionOf('window', { bdb_uid: 3, waiting, window_ends: '2026-11-26T07:54:19.000Z' }),
        ]}
      />
    ),
  },
}

/** What the last handover of a certificate knows, by the uid of its action. */
export const traces = { 'ended completed': traceOf(200) }

/** What the card of shards knows, by the uid of its database. */
export const shards = {
  1: [
    shardOf(1, 0),
    shardOf(2, 0, { role: 'slave', duty: 'replica', lag_bytes: 0 }),
    shardOf(3, 1, { duty: 'surge', ...{ engine: 'valkey', engine_version: '8.1.1' } }),
    shardOf(4, 1, { role: 'slave', duty: 'standby', lag_bytes: 38, link: 'down' }),
    shardOf(5, 1, { detailed_status: 'down', status_reason: 'its process has ended: out of memory' }),
  ],
  2: [],
}
