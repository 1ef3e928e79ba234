import type { Database, Shard } from '@fairlead/api'
import { useNow } from '../../live/clock.ts'
import { useShards } from '../../live/queries.ts'
import { Card } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { RoleMark } from '../../parts/role-mark.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Version } from '../../parts/version.tsx'
import { bytes, elapsed } from '../../words/format.ts'

const columns: readonly Column<Shard>[] = [
  { name: 'Shard', cell: ({ uid }) => uid },
  {
    name: 'Role',
    cell: ({ duty, role }) => <RoleMark role={duty ?? (role === 'master' ? 'primary' : 'replica')} />,
  },
  { name: 'Runs', cell: (shard) => <Version of={shard} /> },
  { name: 'State', wraps: true, cell: (shard) => <State shard={shard} /> },
  { name: 'Behind', number: true, cell: ({ lag_bytes: lag }) => lag !== null && bytes(lag) },
  { name: 'Memory', number: true, cell: ({ used_memory: memory }) => memory !== null && bytes(memory) },
  { name: 'Up for', number: true, cell: ({ started }) => started !== null && <UpFor since={started} /> },
  { name: 'Port', number: true, mono: true, room: 'small', cell: ({ port }) => port },
]

/** The processes of a database by group; unhealthy groups come first. */
export function ShardsCard({ database }: { readonly database: Database }) {
  const shards = useShards(database.uid)
  return (
    <Card title="Shards">
      <Answer of={shards} height={160}>
        {(all) => (all.length === 0 ? <Empty title="No process runs yet" /> : <ShardTable shards={all} />)}
      </Answer>
    </Card>
  )
}

function ShardTable({ shards }: { readonly shards: readonly Shard[] }) {
  const groups = [...Map.groupBy(shards, ({ group }) => group)].toSorted(
    ([a, first], [b, second]) => illness(second) - illness(first) || a - b,
  )
  const titles = new Map(
    groups.map(([group, [first]]) => [group, `Group ${group}, slots ${first?.assigned_slots}`]),
  )
  return (
    <Table
      label="Shards"
      as="compact"
      columns={columns}
      keyOf={({ uid }) => uid}
      groupOf={({ group }) => (titles.size > 1 ? (titles.get(group) ?? null) : null)}
      rows={groups.flatMap(([, members]) => members.toSorted((a, b) => Number(a.uid) - Number(b.uid)))}
    />
  )
}

function State({ shard }: { readonly shard: Shard }) {
  const { detailed_status: state, status_reason: reason, link } = shard
  const isWell = state === 'ok' && link !== 'down'
  return (
    <span data-tone={isWell ? undefined : 'wait'}>
      {state === 'ok' && link === 'down' ? 'link down' : state}
      {reason !== '' && <span className="reason">{reason}</span>}
    </span>
  )
}

function UpFor({ since }: { readonly since: string }) {
  return <span title={since}>{elapsed(useNow() - Date.parse(since))}</span>
}

function illness(members: readonly Shard[]): number {
  return members.some(({ detailed_status }) => detailed_status !== 'ok') ? 1 : 0
}
