import { useNodes } from '../../live/queries.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { bytes } from '../../words/format.ts'

/** The machines, in one line. */
export function NodesLine() {
  const nodes = useNodes().data ?? []
  const up = nodes.filter(({ status }) => status === 'active')
  const active = up.length
  const free = up.reduce((sum, { free_memory = 0 }) => sum + free_memory, 0)
  const isWell = active === nodes.length
  return (
    <Card title="Nodes">
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
    </Card>
  )
}
