import { useMay } from '../../live/permissions.ts'
import { useDatabases, useKnownActions } from '../../live/queries.ts'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { FirstDatabase } from '../databases/first-database.tsx'
import { MovingNow } from './moving-now.tsx'
import { NeedsYou } from './needs-you.tsx'
import { NodesLine } from './nodes-line.tsx'
import { Recent } from './recent.tsx'
import { Versions } from './versions.tsx'

/** What needs a person, what moves, and what is old. */
export function Overview() {
  const may = useMay()
  const databases = useDatabases({
    limit: 1_000,
    fields: 'uid,name,status,status_reason,engine,engine_version,action_uid,upgradable_to',
  })
  const actions = useKnownActions()
  return (
    <Page title="Overview">
      <Answer of={databases} height={320}>
        {(rows) =>
          rows.length === 0 ? (
            <FirstDatabase />
          ) : (
            <div className="overview-grid">
              <Answer of={actions} height={160}>
                {(all) => <NeedsYou databases={rows} actions={all} />}
              </Answer>
              <Versions databases={rows} />
              <div className="stack">
                <Answer of={actions} height={80}>
                  {(all) => <MovingNow databases={rows} actions={all} />}
                </Answer>
                {may('view_all_nodes_info') && <NodesLine />}
              </div>
              <Recent databases={rows} actions={actions.data ?? []} />
            </div>
          )
        }
      </Answer>
    </Page>
  )
}
