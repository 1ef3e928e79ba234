import type { Database, Shard } from '@fairlead/api'
import { useShards } from '../../live/queries.ts'
import { Card } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { RoleMark } from '../../parts/role-mark.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { Version } from '../../parts/version.tsx'

/** The processes of a database, group by group; a group that is not well comes first. */
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
  const groups = [...Map.groupBy(shards, (shard) => shard.assigned_slots)].toSorted(
    ([a, first], [b, second]) => illness(second) - illness(first) || firstSlot(a) - firstSlot(b),
  )
  return (
    <TableBox label="Shards">
      <table className="table table-compact">
        <thead>
          <tr>
            <th scope="col">Shard</th>
            <th scope="col">Role</th>
            <th scope="col">Runs</th>
            <th scope="col">State</th>
            <th scope="col">Node</th>
            <th scope="col" className="number">
              Port
            </th>
          </tr>
        </thead>
        {groups.map(([slots, members]) => (
          <tbody key={slots}>
            {groups.length > 1 && (
              <tr className="group-row">
                <th scope="rowgroup" colSpan={6}>
                  Slots {slots}
                </th>
              </tr>
            )}
            {members
              .toSorted((a, b) => Number(a.uid) - Number(b.uid))
              .map((shard) => (
                <ShardRow key={shard.uid} shard={shard} />
              ))}
          </tbody>
        ))}
      </table>
    </TableBox>
  )
}

function ShardRow({ shard }: { readonly shard: Shard }) {
  const isWell = shard.detailed_status === 'ok'
  return (
    <tr>
      <th scope="row">{shard.uid}</th>
      <td>
        <RoleMark role={shard.role === 'master' ? 'primary' : 'replica'} />
      </td>
      <td>
        <Version of={shard} />
      </td>
      <td data-tone={isWell ? undefined : 'wait'}>
        {shard.detailed_status}
        {shard.status_reason !== '' && <span className="reason">{shard.status_reason}</span>}
      </td>
      <td>{shard.node_uid}</td>
      <td className="number mono">{shard.port}</td>
    </tr>
  )
}

function illness(members: readonly Shard[]): number {
  return members.some(({ detailed_status }) => detailed_status !== 'ok') ? 1 : 0
}

function firstSlot(slots: string): number {
  return Number.parseInt(slots, 10) || 0
}
