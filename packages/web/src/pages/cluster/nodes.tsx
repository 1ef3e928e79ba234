import type { Node } from '@fairlead/api'
import { useNodes } from '../../live/queries.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { bytes } from '../../words/format.ts'

const active = { sign: 'active', tone: 'ok', label: 'active' } as const
const down = { sign: 'stuck', tone: 'bad', label: 'down' } as const
const columns: readonly Column<Node>[] = [
  { name: 'Node', cell: ({ uid }) => uid },
  { name: 'Status', cell: ({ status }) => <MarkView mark={status === 'active' ? active : down} /> },
  { name: 'Address', mono: true, wraps: true, room: 'medium', cell: ({ addr }) => addr },
  { name: 'Memory for shards', cell: (node) => <Memory node={node} /> },
  { name: 'Free', number: true, cell: ({ free_memory: free }) => free !== undefined && bytes(free) },
  { name: 'Disk free', number: true, cell: ({ free_disk: free }) => free !== undefined && bytes(free) },
  { name: 'Cores', number: true, room: 'medium', cell: ({ cores }) => cores },
  { name: 'Shards', number: true, cell: (node) => node.shard_count },
  {
    name: 'Engines isolated from the machine',
    wraps: true,
    cell: (node) => (node.engine_wall ? 'yes' : `no: ${node.engine_wall_missing}`),
  },
  { name: 'Version', room: 'medium', cell: (node) => node.software_version },
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
            <Table label="Nodes" columns={columns} keyOf={({ uid }) => uid} rows={all} />
          )
        }
      </Answer>
    </Page>
  )
}

/** For a node that is down, the last known value, if any. */
function Memory({ node: { total_memory: total, free_memory: free } }: { readonly node: Node }) {
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
