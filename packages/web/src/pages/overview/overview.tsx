import type { Database, Node } from '@fairlead/api'
import { useMay } from '../../live/permissions.ts'
import { MOST_DATABASES, useDatabases, useKnownActions, useNodes } from '../../live/queries.ts'
import { useLosses, useUnseenLosses } from '../../live/use-losses.ts'
import { ActionLines } from '../../parts/action-lines.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { bytes } from '../../words/format.ts'
import { nameIn } from '../../words/name-in.ts'
import { FirstDatabase } from '../databases/first-database.tsx'
import { HealthCard } from './health-card.tsx'
import { type Known, NeedsYou } from './needs-you.tsx'
import { Versions } from './versions.tsx'

const FIELDS =
  'uid,name,status,status_reason,engine,engine_version,action_uid,rollback_window,upgradable_to,memory_size,replication'

/** Waits for a person, the health of databases, running actions, and outdated databases. */
export function Overview() {
  const databases = useDatabases({
    limit: MOST_DATABASES,
    fields: FIELDS,
  })
  return (
    <Page title="Overview">
      <Answer of={databases} height={320}>
        {(rows) => (rows.length === 0 ? <FirstDatabase /> : <Cluster databases={rows} />)}
      </Answer>
    </Page>
  )
}

/** Drawn as a whole: a late card would move those below. */
function Cluster({ databases }: { readonly databases: readonly Database[] }) {
  const may = useMay()
  const actions = useKnownActions()
  const { data: all = [] } = actions
  const losses = useLosses()
  const unseen = useUnseenLosses()
  const known = { databases, actions: all, losses: losses ?? [] }
  const isKnown = losses !== undefined && unseen !== undefined
  const data = !isKnown ? undefined : actions.error === null ? actions.data : all
  return (
    <Answer of={{ ...actions, data }} height={320}>
      {() => (
        <div className="overview-grid">
          <Answer of={actions}>{() => <NeedsYou {...known} losses={unseen ?? []} />}</Answer>
          <HealthCard databases={databases} />
          <Versions databases={databases} actions={all} />
          <div className="stack">
            <Answer of={actions}>{() => <MovingNow {...known} />}</Answer>
            {may('view_all_nodes_info') && <NodesLine />}
          </div>
          <Recent {...known} />
        </div>
      )}
    </Answer>
  )
}

/** Running actions. */
function MovingNow({ databases, actions }: Known) {
  const running = actions.filter(({ phase }) => phase !== 'ended')
  return (
    <Card title="Moving now" beside={<span className="count">{running.length}</span>}>
      {running.length === 0 ? (
        <p className="calm">Nothing moves.</p>
      ) : (
        <ActionLines actions={running} nameOf={nameIn(databases)} />
      )}
    </Card>
  )
}

/** The machines, in one line. */
function NodesLine() {
  const nodes = useNodes()
  return (
    <Card title="Nodes">
      <Answer of={nodes} height={20}>
        {(all) => <NodeFacts nodes={all} />}
      </Answer>
    </Card>
  )
}

function NodeFacts({ nodes }: { readonly nodes: readonly Node[] }) {
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

/** Recently ended actions. */
function Recent({ databases, actions, losses }: Known) {
  const ended = actions.filter(({ phase }) => phase === 'ended').slice(0, 8)
  return (
    <Card title="Recent" className="wide">
      <ActionLines actions={ended} losses={losses.slice(0, 3)} nameOf={nameIn(databases)} />
    </Card>
  )
}
