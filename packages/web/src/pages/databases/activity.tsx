import { useMay } from '../../live/permissions.ts'
import { useActionsOf } from '../../live/queries.ts'
import { ActionLines } from '../../parts/action-lines.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'

/** Actions of a database, the newest first. */
export function Activity({ uid }: { readonly uid: number }) {
  const may = useMay()
  const actions = useActionsOf(uid)
  if (!may('view_status_of_cluster_action')) return null
  return (
    <Card title="Activity">
      <Answer of={actions} height={96}>
        {(all) => <ActionLines actions={all} />}
      </Answer>
    </Card>
  )
}
