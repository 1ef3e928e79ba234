import type { Node } from '@fairlead/api'
import { useNodes } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { bytes } from '../../words/format.ts'

const columns = [
  ...[{ name: 'Node' }, { name: 'Status' }, { name: 'Address' }, { name: 'Memory for shards' }],
  ...[
    { name: 'Free', number: true },
    { name: 'Disk free', number: true },
    { name: 'Cores', number: true },
  ],
  ...[{ name: 'Shards', number: true }, { name: 'Wall around engines' }, { name: 'Version' }],
]

/** The machines with an agent. */
export function Nodes() {
  const nodes = useNodes()
  return (
    <Page title="Nodes">
      <Answer of={nodes} height={120}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No agent has been heard yet" />
          ) : (
            <TableBox label="Nodes">
              <table className="table">
                <Columns of={columns} />
                <tbody>
                  {all.map((node) => (
                    <NodeRow key={node.uid} node={node} />
                  ))}
                </tbody>
              </table>
            </TableBox>
          )
        }
      </Answer>
    </Page>
  )
}

const active = { sign: 'active', tone: 'ok', label: 'active' } as const
const down = { sign: 'stuck', tone: 'bad', label: 'down' } as const

function NodeRow({ node }: { readonly node: Node }) {
  const { uid, addr, total_memory: total, free_memory: free, free_disk: disk } = node
  return (
    <tr>
      <th scope="row">{uid}</th>
      <td>
        <MarkView mark={node.status === 'active' ? active : down} />
      </td>
      <td className="mono">{addr}</td>
      <td>
        <Memory total={total} free={free} />
      </td>
      <td className="number">{free !== undefined && bytes(free)}</td>
      <td className="number">{disk !== undefined && bytes(disk)}</td>
      <td className="number">{node.cores}</td>
      <td className="number">{node.shard_count}</td>
      <td title={node.engine_wall_missing}>{node.engine_wall ? 'yes' : `no: ${node.engine_wall_missing}`}</td>
      <td>{node.software_version}</td>
    </tr>
  )
}

/** Of a node that is down, as it was last known; nothing where that is not known. */
function Memory({ total, free }: { readonly total: number | undefined; readonly free: number | undefined }) {
  if (total === undefined || free === undefined) return null
  return (
    <>
      <meter
        className="meter"
        min={0}
        max={total}
        value={total - free}
        aria-label="Memory that shards use or have reserved"
      />{' '}
      {bytes(total)}
    </>
  )
}
