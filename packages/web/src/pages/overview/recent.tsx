import type { Action, Database } from '@fairlead/api'
import { ActionLines } from '../../parts/action-lines.tsx'
import { Card } from '../../parts/page.tsx'
import { nameIn } from '../../words/name-in.ts'

/** Recently ended actions. */
export function Recent(props: {
  readonly databases: readonly Database[]
  readonly actions: readonly Action[]
}) {
  const ended = props.actions.filter(({ phase }) => phase === 'ended').slice(0, 8)
  return (
    <Card title="Recent" className="wide">
      <ActionLines actions={ended} nameOf={nameIn(props.databases)} />
    </Card>
  )
}
