import type { Action, Database } from '@fairlead/api'
import { useState } from 'react'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { headlineOf, keptOf, markOf, meanwhileOf } from '../../words/describe-action.ts'
import { foldReason } from '../../words/fold-reason.ts'
import { clockTime, countdown, elapsed, plural } from '../../words/format.ts'

/** The page reports when nothing has changed for this long. */
const QUIET_MS = 30_000

interface HeadlineProps {
  readonly action: Action
  /** The action's database now. */
  readonly database: Database | undefined
}

/** The headline, with the present wait below; for a stuck action, the card below explains it. */
export function Headline({ action, database }: HeadlineProps) {
  const { sign, tone } = markOf(action)
  const kept = keptOf(action, database)
  const { phase, waiting, window_ends: ends } = action
  const failure = failureWords(action)
  const isRunning = phase !== 'stuck' && phase !== 'ended'
  const now = useNow()
  return (
    <section className="headline" data-tone={tone} data-phase={phase} data-outcome={action.outcome}>
      <p className="headline-main" aria-live="polite">
        <Glyph name={sign} />
        {headlineOf(action)}
      </p>
      {phase === 'window' && ends !== null && (
        <p className="headline-clock">{countdown(Date.parse(ends) - now)} left</p>
      )}
      {phase === 'stuck' && waiting !== null && (
        <p className="headline-clock">stuck for {elapsed(now - Date.parse(waiting.since))}</p>
      )}
      <p className="headline-why">
        {phase !== 'stuck' && (waiting === null ? meanwhileOf(action) : <WaitReason waiting={waiting} />)}
        {failure !== null && `${isRunning ? ' · ' : ''}${failure.first}`}
        {phase === 'ready' && action.orders.resume.ok && (
          <span>
            {'. '}Resume: {action.orders.resume.consequence}
          </span>
        )}
      </p>
      {/* A tired reader's next question. An engine's text can be long. */}
      {kept !== null && <p className="headline-kept">{kept}</p>}
      {action.outcome === 'failed' && <AfterFailure action={action} />}
      {failure !== null && <Log lines={failure.rest} />}
      <Facts action={action} />
    </section>
  )
}

/** The cause of a failure, and the engine's text about it. */
function failureWords({ error }: Action): ReturnType<typeof foldReason> | null {
  return error === undefined || error === '' ? null : foldReason(error)
}

/** Advice after a failed upgrade. */
function AfterFailure({ action }: { readonly action: Action }) {
  const { name, bdb_uid: uid, orders } = action
  if (name !== 'SMUpgradeBDB' || uid === null) return null
  return (
    <p className="headline-next">
      What to do:{' '}
      {orders.retry.ok
        ? 'remove the cause, and press Try again; or '
        : `the same upgrade cannot begin again (${orders.retry.why}); `}
      <Link href={`/databases/${uid}/upgrade`}>plan an upgrade to another version</Link>
    </p>
  )
}

function Log({ lines }: { readonly lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <details className="headline-log">
      <summary>What the engine wrote after it ({plural(lines.length, 'line')})</summary>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  )
}

/** The reason, begin and known end of a wait. */
export function WaitReason({ waiting }: { readonly waiting: NonNullable<Action['waiting']> }) {
  const now = useNow()
  const { why, since, until } = waiting
  const left = until === null ? null : Date.parse(until) - now
  return (
    <>
      {why}
      <span className="muted">
        {' · '}for {elapsed(now - Date.parse(since))}
        {left !== null && left > 0 && `, at most ${countdown(left)} more`}
      </span>
    </>
  )
}

function Facts({ action }: { readonly action: Action }) {
  const now = useNow()
  const { requested_by: by, creation_time: created, phase, heartbeat, lanes = [], bdb_uid: uid } = action
  const quietMs = now - heartbeat * 1_000
  const moved = lanes.filter((lane) => lane.handed_over).length
  return (
    <p className="facts">
      {by !== null && <span>by {by}</span>}
      <span title={created}>{clockTime(created, now)}</span>
      {phase !== 'ended' && phase !== 'window' && phase !== 'queued' && <Progress of={action} />}
      {lanes.length > 1 && (
        <span>
          {moved} of {plural(lanes.length, 'group')} handed over
        </span>
      )}
      {phase !== 'ended' && quietMs > QUIET_MS && <span>last change {elapsed(quietMs)} ago</span>}
      {uid !== null && <Link href={`/databases/${uid}`}>Go to the database</Link>}
      {phase !== 'ended' && phase !== 'stuck' && <span>You may close this page; nothing depends on it</span>}
    </p>
  )
}

/** Never goes back: an answer that was asked for before an event may come after it. */
function Progress({ of: { progress } }: { readonly of: Action }) {
  const [most, note] = useState(progress)
  if (progress > most) note(progress)
  const shown = Math.round(Math.max(progress, most))
  return (
    <span className="progress">
      <progress value={shown} max={100} aria-label="Steps done" /> {shown} % of the steps
    </span>
  )
}
