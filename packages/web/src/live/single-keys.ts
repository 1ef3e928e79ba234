import { useSyncExternalStore } from 'react'

const PLACE = 'fairlead-keys'
const listeners = new Set<() => void>()

/** Returns whether single letters are shortcuts. Users of speech input turn that off (WCAG 2.1.4). */
export function useSingleKeys(): readonly [boolean, (isOn: boolean) => void] {
  const isOn = useSyncExternalStore(listen, areSingleKeysOn)
  const turn = (on: boolean) => {
    if (on) localStorage.removeItem(PLACE)
    else localStorage.setItem(PLACE, 'off')
    for (const each of listeners) each()
  }
  return [isOn, turn]
}

/** The same, outside of a page. */
export function areSingleKeysOn(): boolean {
  return localStorage.getItem(PLACE) !== 'off'
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
