import type { Node } from '@fairlead/api'
import { useNodes } from '../../live/queries.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { bytes } from '../../words/format.ts'

/** The machines, in one line. */
export function NodesLine() {
  const nodes = useNodes()
  return (
    <Card title="Nodes">
      <Answer of={nodes} height={20}>
        {(all) => <Line nodes={all} />}
      </Answer>
    </Card>
  )
}

function Line({ nodes }: { readonly nodes: readonly Node[] }) {
  const up = nodes.filter(({ status }) => status === 'active')
  const active = up.length
  const free = up.reduce((sum, { free_memory = 0 }) => sum + free_memory, 0)
  const isWell = active === nodes.length
  return (
    <p className="facts">
      <MarkView
        mark={{
          sign: isWell ? 'active' : 'stuck',
          tone: isWell ? 'ok' : 'bad',
          label: `${active} of ${nodes.length} active`,
        }}
      />
      <span>{bytes(free)} free for shards</span>
    </p>
  )
}
