import type { Action } from '@fairlead/api'
import { type NotificationState, useNotice, useNotifications } from '../../live/use-notifications.ts'
import { headlineOf } from '../../words/describe-action.ts'

/** The phases that may need a person, and the end. */
const telling: ReadonlySet<Action['phase']> = new Set(['ready', 'window', 'stuck', 'ended'])

/** Offers notifications in the background: the action is ready, stuck, in its window, or has ended. */
export function NotifyButton({ action, name }: { readonly action: Action; readonly name: string }) {
  const { state, turnOn } = useNotifications()
  useNotice(telling.has(action.phase) ? `${name}: ${headlineOf(action)}` : null, state === 'on')
  if (action.phase === 'ended') return null
  const why = state === 'off' || state === 'on' ? null : reasons[state]
  return (
    <div className="notify">
      {why !== null && (
        <span className="hint" id="notify-why">
          {why}
        </span>
      )}
      <button
        type="button"
        className="button button-quiet"
        aria-disabled={state !== 'off'}
        aria-describedby={why === null ? undefined : 'notify-why'}
        onClick={state === 'off' ? turnOn : undefined}
      >
        {state === 'on' ? 'You will be notified' : 'Notify me'}
      </button>
    </div>
  )
}

/** Reasons for missing notifications; the button alone would only be grey. */
const reasons: Readonly<Record<Exclude<NotificationState, 'on' | 'off'>, string>> = {
  denied: 'The browser refuses notifications of this address',
  insecure: 'Browsers notify over HTTPS only',
  missing: 'This browser has no notifications',
}
