import type { Database, Shard } from '@fairlead/api'
import { useNow } from '../../live/clock.ts'
import { useShards } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { RoleMark } from '../../parts/role-mark.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { Version } from '../../parts/version.tsx'
import { bytes, elapsed } from '../../words/format.ts'

const columns = [
  ...[
    { name: 'Shard' },
    { name: 'Role' },
    { name: 'Runs' },
    { name: 'State' },
    { name: 'Behind', number: true },
  ],
  ...[
    { name: 'Memory', number: true },
    { name: 'Up for', number: true },
    { name: 'Port', number: true },
  ],
]

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
  const groups = [...Map.groupBy(shards, ({ group }) => group)].toSorted(
    ([a, first], [b, second]) => illness(second) - illness(first) || a - b,
  )
  return (
    <TableBox label="Shards">
      <table className="table table-compact">
        <Columns of={columns} />
        {groups.map(([group, members]) => (
          <tbody key={group}>
            {groups.length > 1 && (
              <tr className="group-row">
                <th scope="rowgroup" colSpan={columns.length}>
                  Group {group}, slots {members[0]?.assigned_slots}
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
  const { detailed_status: state, status_reason: reason, link, lag_bytes: lag, used_memory: memory } = shard
  const isWell = state === 'ok' && link !== 'down'
  return (
    <tr>
      <th scope="row">{shard.uid}</th>
      <td>
        <RoleMark role={shard.duty ?? (shard.role === 'master' ? 'primary' : 'replica')} />
      </td>
      <td>
        <Version of={shard} />
      </td>
      <td data-tone={isWell ? undefined : 'wait'}>
        {state === 'ok' && link === 'down' ? 'link down' : state}
        {reason !== '' && <span className="reason">{reason}</span>}
      </td>
      <td className="number">{lag === null ? '' : bytes(lag)}</td>
      <td className="number">{memory === null ? '' : bytes(memory)}</td>
      <td className="number">{shard.started !== null && <UpFor since={shard.started} />}</td>
      <td className="number mono">{shard.port}</td>
    </tr>
  )
}

function UpFor({ since }: { readonly since: string }) {
  return <span title={since}>{elapsed(useNow() - Date.parse(since))}</span>
}

function illness(members: readonly Shard[]): number {
  return members.some(({ detailed_status }) => detailed_status !== 'ok') ? 1 : 0
}
