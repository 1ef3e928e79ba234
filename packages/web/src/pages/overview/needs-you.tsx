import type { Action, Database, LogEntry } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api } from '../../live/api.ts'
import { useNow } from '../../live/clock.ts'
import { keys } from '../../live/keys.ts'
import { useMay } from '../../live/permissions.ts'
import { useOrder } from '../../live/use-order.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { foldReason } from '../../words/fold-reason.ts'
import { type LossToSee, listNeeds } from '../../words/list-needs.ts'
import { nameIn } from '../../words/name-in.ts'

/** What the overview knows. */
export interface Known {
  readonly databases: readonly Database[]
  readonly actions: readonly Action[]
  readonly losses: readonly LogEntry[]
}

/** Everything that waits for a person, the most severe first. */
export function NeedsYou({ databases, actions, losses }: Known) {
  const needs = listNeeds({ databases, actions, losses, nameOf: nameIn(databases) }, useNow())
  return (
    <Card title="Needs you" className="wide" beside={<span className="count">{needs.length}</span>}>
      {needs.length === 0 ? (
        <p className="calm">Nothing. You may look away.</p>
      ) : (
        <ul className="needs">
          {needs.map(({ key, to, name, mark, why, loss }) => (
            <li key={key}>
              <Link href={to}>{name}</Link> <MarkView mark={mark} />
              {loss !== undefined && <SeenButton loss={loss} />}
              <Why why={why} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function SeenButton({ loss: { database, record } }: { readonly loss: LossToSee }) {
  const client = useQueryClient()
  const see = useOrder({
    mutationFn: () => api.seeLosses({ params: { uid: database }, body: { up_to: record } }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.logs }),
  })
  if (!useMay()('update_bdb', database)) return null
  return (
    <>
      <button
        type="button"
        className="button button-quiet"
        title="Takes this and what came before off the list of all users; the audit names you"
        disabled={see.isPending}
        onClick={() => see.mutate()}
      >
        I have seen it
      </button>
      {see.error !== null && <Problem error={see.error} />}
    </>
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
