import type { Database } from '@fairlead/api'
import { useMay } from '../../live/permissions.ts'
import { MOST_DATABASES, useDatabases, useKnownActions } from '../../live/queries.ts'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { FirstDatabase } from '../databases/first-database.tsx'
import { MovingNow } from './moving-now.tsx'
import { NeedsYou } from './needs-you.tsx'
import { NodesLine } from './nodes-line.tsx'
import { Recent } from './recent.tsx'
import { Versions } from './versions.tsx'

/** Waits for a person, running actions, and outdated databases. */
export function Overview() {
  const databases = useDatabases({
    limit: MOST_DATABASES,
    fields: 'uid,name,status,status_reason,engine,engine_version,action_uid,upgradable_to',
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
  return (
    <Answer of={actions.error === null ? actions : { ...actions, data: all }} height={320}>
      {() => (
        <div className="overview-grid">
          <Answer of={actions}>{() => <NeedsYou databases={databases} actions={all} />}</Answer>
          <Versions databases={databases} actions={all} />
          <div className="stack">
            <Answer of={actions}>{() => <MovingNow databases={databases} actions={all} />}</Answer>
            {may('view_all_nodes_info') && <NodesLine />}
          </div>
          <Recent databases={databases} actions={all} />
        </div>
      )}
    </Answer>
  )
}
