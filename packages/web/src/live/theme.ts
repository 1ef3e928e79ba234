import { useSyncExternalStore } from 'react'

/** Light or dark. */
export type Theme = 'light' | 'dark'

const PLACE = 'fairlead-theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

/** The chosen theme, or the system's. */
function theme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  if (chosen === 'light' || chosen === 'dark') return chosen
  return dark.matches ? 'dark' : 'light'
}

/** Restores the last visit's theme before the first paint. */
export function restoreTheme(): void {
  const chosen = localStorage.getItem(PLACE)
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen
}

/** Changes and stores the theme. */
export function chooseTheme(chosen: Theme): void {
  document.documentElement.dataset['theme'] = chosen
  localStorage.setItem(PLACE, chosen)
  for (const each of listeners) each()
}

/** The present theme. */
export function useTheme(): Theme {
  return useSyncExternalStore(listen, theme)
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  dark.addEventListener('change', listener)
  return () => {
    listeners.delete(listener)
    dark.removeEventListener('change', listener)
  }
}
