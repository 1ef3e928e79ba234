import { useEffect, useRef, useState } from 'react'

/** `insecure`: not available, like over plain HTTP to another machine. `missing`: not in this browser. */
export type NotificationState = 'off' | 'on' | 'denied' | 'insecure' | 'missing'

/** Notifications of one page: enabled by a click, and only while the page is open. */
export function useNotifications(): { readonly state: NotificationState; readonly turnOn: () => void } {
  const [state, set] = useState<NotificationState>(stateHere)
  const turnOn = () => void Notification.requestPermission().then((answer) => set(stateOf(answer, true)))
  return { state, turnOn }
}

/** Notifies when `text` changes, if `isWanted` and another tab is in front. Skips the page's first text. */
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
