import type { Action, LogEntry } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../live/clock.ts'
import { longestStop } from '../words/certificate-text.ts'
import { headlineOf, markOf, whatItDoes } from '../words/describe-action.ts'
import { markOfLoss, whyOfLoss } from '../words/describe-loss.ts'
import { ago } from '../words/format.ts'
import { MarkView } from './mark.tsx'

interface LinesProps {
  readonly actions: readonly Action[]
  /** Possible losses, among the actions by their time. */
  readonly losses?: readonly LogEntry[]
  /** Name of an action's database, if there are several. */
  readonly nameOf?: (action: Pick<Action, 'bdb_uid' | 'object_name'>) => string
}

/** One line per action, linked to its page. */
export function ActionLines({ actions, losses = [], nameOf }: LinesProps) {
  const now = useNow()
  const lines = [
    ...actions.map((action) => ({
      key: action.action_uid,
      at: action.ended_time ?? action.creation_time,
      line: <ActionLine action={action} name={nameOf?.(action)} now={now} />,
    })),
    ...losses.map((loss) => {
      const uid = Number(loss.bdb_uid)
      const name = nameOf?.({ bdb_uid: uid, object_name: '' })
      return { key: loss.uid, at: loss.recorded_at, line: <LossLine {...{ loss, name, now }} /> }
    }),
  ]
  return (
    <ul className="lines">
      {(losses.length === 0 ? lines : lines.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))).map(
        ({ key, line }) => (
          <li key={key}>{line}</li>
        ),
      )}
    </ul>
  )
}

interface LineProps {
  readonly name: string | undefined
  readonly now: number
}

function ActionLine({ action, name, now }: LineProps & { readonly action: Action }) {
  return (
    <>
      <MarkView mark={{ ...markOf(action), label: headlineOf(action) }} />
      <Link href={`/actions/${action.action_uid}`}>
        {name !== undefined && <strong>{name} </strong>}
        {whatItDoes(action)}
      </Link>
      <span className="muted">
        {writeStop(action)}
        {action.requested_by !== null && `by ${action.requested_by} · `}
        {ago(action.ended_time ?? action.creation_time, now)}
      </span>
    </>
  )
}

function LossLine({ loss, name, now }: LineProps & { readonly loss: LogEntry }) {
  return (
    <>
      <MarkView mark={markOfLoss(loss)} />
      <Link href={`/audit?database=${loss.bdb_uid}`}>
        {name !== undefined && <strong>{name} </strong>}
        {whyOfLoss(loss)}
      </Link>
      <span className="muted">{ago(loss.recorded_at, now)}</span>
    </>
  )
}

function writeStop(action: Action): string {
  const longest = longestStop(action)
  return longest === '' ? '' : `write stop ${longest} · `
}
