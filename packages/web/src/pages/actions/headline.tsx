import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { headlineOf, keptOf, markOf } from '../../words/describe-action.ts'
import { clockTime, countdown, elapsed, plural } from '../../words/format.ts'

/** Nothing has changed for so long: the page says so. */
const QUIET_MS = 30_000

interface HeadlineProps {
  readonly action: Action
  /** Which it is about, as it is now. */
  readonly database: Database | undefined
}

/** The one sentence, and below it why nothing is being done just now; of an action that is stuck, the card below says that. */
export function Headline({ action, database }: HeadlineProps) {
  const { sign, tone } = markOf(action)
  const kept = keptOf(action, database)
  const { phase, waiting, error, window_ends: ends } = action
  const now = useNow()
  return (
    <section className="headline" data-tone={tone} data-phase={phase}>
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
      {/* What a tired reader asks first; why it failed can be long. */}
      {kept !== null && <p className="headline-kept">{kept}</p>}
      <p className="headline-why">
        {waiting !== null && phase !== 'stuck' && <WaitReason waiting={waiting} />}
        {error !== undefined && error !== '' && error}
        {phase === 'ready' && action.orders.resume.ok && (
          <span>
            {waiting !== null && '. '}Resume: {action.orders.resume.consequence}
          </span>
        )}
        {phase === 'handing_over' && 'Milliseconds: a handover that has begun is completed'}
      </p>
      <Facts action={action} />
    </section>
  )
}

/** Since when, and until when if that is known. */
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
