import type { Action } from '@fairlead/api'
import { useState } from 'react'
import { useNow } from '../../live/clock.ts'
import { Card } from '../../parts/page.tsx'
import { clockTime } from '../../words/format.ts'
import { countEvents, listEvents } from '../../words/list-events.ts'

/** More are useless to readers, and slow on a slow machine. */
const MOST = 200

/** Past events with their times. Drawn when opened. */
export function Events({ action }: { readonly action: Action }) {
  const [isOpen, setOpen] = useState(false)
  const events = listEvents(action)
  return (
    <Card>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary data-key="e">
          <h2>{countEvents(events, action)}</h2>
        </summary>
        {isOpen && <EventLines action={action} />}
      </details>
    </Card>
  )
}

function EventLines({ action }: { readonly action: Action }) {
  const now = useNow()
  const hasGroups = (action.lanes?.length ?? 0) > 1
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <div className="events" role="log" aria-label="Events, the newest first" tabIndex={0}>
      <ol>
        {listEvents(action)
          .slice(0, MOST)
          .map(({ key, at, group, what, why }) => (
            <li key={key}>
              <time className="mono muted" dateTime={at} title={at}>
                {clockTime(at, now)}
              </time>
              <span>
                {hasGroups && group !== null && `Group ${group}: `}
                {what}
                {why !== '' && <span className="muted"> · {why}</span>}
              </span>
            </li>
          ))}
      </ol>
    </div>
  )
}
