import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { type Mark, markOf } from '../../words/describe-action.ts'
import { markOfDatabase } from '../../words/describe-database.ts'
import { foldReason } from '../../words/fold-reason.ts'
import { elapsed } from '../../words/format.ts'
import { nameIn } from './names.ts'

/** A window that is open so long is easily forgotten. */
const FORGOTTEN_MS = 24 * 3_600_000
/** A failure is news for so long. */
const NEWS_MS = 7 * 24 * 3_600_000

interface Need {
  readonly key: string
  readonly to: string
  readonly name: string
  readonly mark: Mark
  readonly why: string
}

type Known = { readonly databases: readonly Database[]; readonly actions: readonly Action[] }

/** What does not go on without a person, the most severe first. */
export function NeedsYou(known: Known) {
  const needs = needsOf(known, useNow())
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

function needsOf({ databases, actions }: Known, now: number): readonly Need[] {
  const nameOf = nameIn(databases)
  const ill = databases.filter(({ status }) => status === 'recovery' || status === 'creation-failed')
  const ofDatabases = ill.map((database) => ({
    key: `database ${database.uid}`,
    to: `/databases/${database.uid}`,
    name: database.name,
    mark: markOfDatabase(database),
    why: database.status_reason,
  }))
  const open = actions.filter((action) => needsPerson(action, actions, now))
  const ofActions = open.map((action) => ({
    key: action.action_uid,
    to: `/actions/${action.action_uid}`,
    name: nameOf(action),
    mark: markOf(action),
    why: whyOf(action, now),
  }))
  const order = ['bad', 'wait', 'busy', 'ok', 'quiet']
  return [...ofDatabases, ...ofActions].toSorted(
    (a, b) => order.indexOf(a.mark.tone) - order.indexOf(b.mark.tone),
  )
}

function needsPerson(action: Action, all: readonly Action[], now: number): boolean {
  const { phase, outcome, waiting, ended_time: ended, bdb_uid: uid } = action
  if (phase === 'stuck' || phase === 'ready' || phase === 'paused') return true
  if (phase === 'window') return waiting !== null && now - Date.parse(waiting.since) > FORGOTTEN_MS
  if (outcome !== 'failed' || ended === null || now - Date.parse(ended) > NEWS_MS) return false
  // A later action of the same database has answered it.
  return all.find((other) => other.bdb_uid === uid) === action
}

function whyOf({ waiting, error, phase }: Action, now: number): string {
  if (waiting === null) return error ?? ''
  const since = elapsed(now - Date.parse(waiting.since))
  return phase === 'window'
    ? `The way back is open for ${since}: finalize, or roll back`
    : `For ${since}: ${waiting.why}`
}
