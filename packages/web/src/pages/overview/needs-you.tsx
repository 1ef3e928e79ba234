import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { foldReason } from '../../words/fold-reason.ts'
import { listNeeds } from '../../words/list-needs.ts'
import { nameIn } from '../../words/name-in.ts'

type Known = { readonly databases: readonly Database[]; readonly actions: readonly Action[] }

/** Everything that waits for a person, the most severe first. */
export function NeedsYou(known: Known) {
  const needs = listNeeds({ ...known, nameOf: nameIn(known.databases) }, useNow())
  return (
    <Card title="Needs you" beside={<span className="count">{needs.length}</span>}>
      {needs.length === 0 ? (
        <p className="calm">Nothing. You may look away.</p>
      ) : (
        <ul className="needs">
          {needs.map(({ key, to, name, mark, why }) => (
            <li key={key}>
              <Link href={to}>{name}</Link> <MarkView mark={mark} />
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
