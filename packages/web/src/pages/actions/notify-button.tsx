import type { Action } from '@fairlead/api'
import { useNotice, useNotifications } from '../../live/use-notifications.ts'
import { headlineOf } from '../../words/describe-action.ts'

/** The moments at which a person may be needed, and the end. */
const telling: ReadonlySet<Action['phase']> = new Set(['ready', 'window', 'stuck', 'ended'])

/** Offers to tell, while another tab is in front, that the action is ready, stuck, in its window, or has ended. */
export function NotifyButton({ action, name }: { readonly action: Action; readonly name: string }) {
  const { state, turnOn } = useNotifications()
  useNotice(telling.has(action.phase) ? `${name}: ${headlineOf(action)}` : null, state === 'on')
  if (action.phase === 'ended' || state === 'unavailable') return null
  return (
    <button
      type="button"
      className="button button-quiet"
      aria-disabled={state !== 'off'}
      title={state === 'denied' ? 'The browser does not allow it for this address' : undefined}
      onClick={state === 'off' ? turnOn : undefined}
    >
      {state === 'on' ? 'You will be notified' : 'Notify me'}
    </button>
  )
}
