import type { Action, Database } from '@fairlead/api'
import { ActionLines } from '../../parts/action-lines.tsx'
import { Card } from '../../parts/page.tsx'
import { nameIn } from '../../words/name-in.ts'

/** Running actions. */
export function MovingNow(props: {
  readonly databases: readonly Database[]
  readonly actions: readonly Action[]
}) {
  const running = props.actions.filter(({ phase }) => phase !== 'ended')
  return (
    <Card title="Moving now" beside={<span className="count">{running.length}</span>}>
      {running.length === 0 ? (
        <p className="calm">Nothing moves.</p>
      ) : (
        <ActionLines actions={running} nameOf={nameIn(props.databases)} />
      )}
    </Card>
  )
}
