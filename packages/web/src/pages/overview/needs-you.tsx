import type { Action, Database, LogEntry } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useSeenRecords } from '../../live/use-losses.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { foldReason } from '../../words/fold-reason.ts'
import { listNeeds } from '../../words/list-needs.ts'
import { nameIn } from '../../words/name-in.ts'

/** What the overview knows. */
export interface Known {
  readonly databases: readonly Database[]
  readonly actions: readonly Action[]
  readonly losses: readonly LogEntry[]
}

/** Everything that waits for a person, the most severe first. */
export function NeedsYou({ databases, actions, losses }: Known) {
  const [seen, see] = useSeenRecords()
  const unseen = losses.filter(({ uid }) => !seen.has(uid))
  const needs = listNeeds({ databases, actions, losses: unseen, nameOf: nameIn(databases) }, useNow())
  return (
    <Card title="Needs you" className="wide" beside={<span className="count">{needs.length}</span>}>
      {needs.length === 0 ? (
        <p className="calm">Nothing. You may look away.</p>
      ) : (
        <ul className="needs">
          {needs.map(({ key, to, name, mark, why, record }) => (
            <li key={key}>
              <Link href={to}>{name}</Link> <MarkView mark={mark} />
              {record !== undefined && (
                <button
                  type="button"
                  className="button button-quiet"
                  title="Takes it off this list, in this browser"
                  onClick={() => see(record)}
                >
                  I have seen it
                </button>
              )}
              <Why why={why} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Why({ why }: { readonly why: string }) {
  const { first, rest } = foldReason(why)
  if (why === '') return null
  if (rest.length === 0) return <p className="muted">{first}</p>
  return (
    <details className="muted">
      <summary>{first}</summary>
      <ul>
        {rest.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  )
}
