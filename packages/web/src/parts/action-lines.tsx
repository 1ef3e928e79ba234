import type { Action } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../live/clock.ts'
import { longestStop } from '../words/certificate-text.ts'
import { headlineOf, markOf, whatItDoes } from '../words/describe-action.ts'
import { ago } from '../words/format.ts'
import { MarkView } from './mark.tsx'

/** One line per action, linked to its page. */
export function ActionLines(props: {
  readonly actions: readonly Action[]
  /** Name of an action's database, if there are several. */
  readonly nameOf?: (action: Action) => string
}) {
  const now = useNow()
  return (
    <ul className="lines">
      {props.actions.map((action) => (
        <li key={action.action_uid}>
          <MarkView mark={{ ...markOf(action), label: headlineOf(action) }} />
          <Link href={`/actions/${action.action_uid}`}>
            {props.nameOf !== undefined && <strong>{props.nameOf(action)} </strong>}
            {whatItDoes(action)}
          </Link>
          <span className="muted">
            {writeStop(action)}
            {action.requested_by !== null && `by ${action.requested_by} · `}
            {ago(action.ended_time ?? action.creation_time, now)}
          </span>
        </li>
      ))}
    </ul>
  )
}

function writeStop(action: Action): string {
  const longest = longestStop(action)
  return longest === '' ? '' : `write stop ${longest} · `
}
