import { useEffect, useRef, useState } from 'react'

/** `insecure`: browsers have none here, as over plain HTTP from another machine. `missing`: this browser has none at all. */
export type NotificationState = 'off' | 'on' | 'denied' | 'insecure' | 'missing'

/** Notifications of one page: asked for by a click, never by themselves, and only as long as the page is open. */
export function useNotifications(): { readonly state: NotificationState; readonly turnOn: () => void } {
  const [state, set] = useState<NotificationState>(stateHere)
  const turnOn = () => void Notification.requestPermission().then((answer) => set(stateOf(answer, true)))
  return { state, turnOn }
}

/** Shows a notification when `text` changes, if `isWanted` and another tab is in front. The text that the page began with is not shown. */
export function useNotice(text: string | null, isWanted: boolean): void {
  const told = useRef(text)
  useEffect(() => {
    if (told.current === text) return
    told.current = text
    if (text !== null && isWanted && document.hidden) new Notification('Fairlead', { body: text, tag: text })
  }, [text, isWanted])
}

function stateHere(): NotificationState {
  if (!globalThis.isSecureContext) return 'insecure'
  if (!('Notification' in globalThis)) return 'missing'
  return stateOf(Notification.permission, false)
}

function stateOf(permission: NotificationPermission, isAsked: boolean): NotificationState {
  if (permission === 'denied') return 'denied'
  return permission === 'granted' && isAsked ? 'on' : 'off'
}
