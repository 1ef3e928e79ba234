import { useEffect, useSyncExternalStore } from 'react'

interface Keys {
  /** Control or ⌘ with K. */
  readonly onFind: () => void
  /** A question mark. */
  readonly onHelp: () => void
  /** The letter after `g`. */
  readonly onGo: (letter: string) => void
}

/** Elements that rows are reached by. */
const ROWS = '#content tbody th a, #content .lines a'

/** Handles the page's keys; none is an order. Ignores text input, dialogs and other key combinations. */
export function useKeys({ onFind, onHelp, onGo }: Keys): void {
  useEffect(() => {
    let isAfterG = false
    const take = (event: KeyboardEvent): boolean => {
      const { key } = event
      if ((event.ctrlKey || event.metaKey) && !event.altKey && key.toLowerCase() === 'k') {
        if (!isBusy()) onFind()
        return true
      }
      if (event.ctrlKey || event.metaKey || event.altKey || !areSingleKeysOn()) return false
      if (isBusy() || isEntered(event.target)) return false
      const wasAfterG = isAfterG
      isAfterG = key === 'g' && !wasAfterG
      if (wasAfterG) onGo(key)
      else if (key === '?') onHelp()
      else if (key === '/') return focusOn('#content input[type=search]')
      else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1)
      else return pressOwn(key)
      return true
    }
    const listener = (event: KeyboardEvent) => {
      if (!event.defaultPrevented && take(event)) event.preventDefault()
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [onFind, onHelp, onGo])
}

function isBusy(): boolean {
  return document.querySelector('dialog[open], .login') !== null
}

function isEntered(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea')
}

function focusOn(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector)
  found?.focus()
  return found !== null
}

function moveRow(by: 1 | -1): void {
  const rows: readonly (Element | null)[] = [...document.querySelectorAll(ROWS)]
  const here = rows.indexOf(document.activeElement)
  const next = rows[here === -1 ? 0 : Math.min(Math.max(here + by, 0), rows.length - 1)]
  if (next instanceof HTMLElement) next.focus()
}

/** A page's own shortcut: `data-key`. */
function pressOwn(key: string): boolean {
  if (!/^[a-z]$/.test(key)) return false
  const own = document.querySelector<HTMLElement>(`#content [data-key="${key}"]`)
  own?.click()
  own?.focus()
  return own !== null
}

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
function areSingleKeysOn(): boolean {
  return localStorage.getItem(PLACE) !== 'off'
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
