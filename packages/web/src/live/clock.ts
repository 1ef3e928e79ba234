import { useSyncExternalStore } from 'react'

/** Milliseconds by which the server's clock is ahead of this machine's. */
let ahead = 0
let tick = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** Reads the header `Date`, which has whole seconds. Ignores small differences. */
export function hearServerTime(date: string | null): void {
  if (date === null) return
  const difference = Date.parse(date) + 500 - Date.now()
  if (Number.isFinite(difference)) ahead = Math.abs(difference) < 2_000 ? 0 : difference
}

/** The server's time, in Unix milliseconds. */
export function serverNow(): number {
  return Date.now() + ahead
}

/** The server's time, updated each second by one timer for all. */
export function useNow(): number {
  return useSyncExternalStore(listen, () => tick + ahead)
}

/** This machine's time, updated each second: for times that it noted itself. */
export function useOwnNow(): number {
  return useSyncExternalStore(listen, () => tick)
}

function listen(listener: () => void): () => void {
  if (listeners.size === 0) tick = Date.now()
  listeners.add(listener)
  timer ??= setInterval(() => {
    tick = Date.now()
    for (const each of listeners) each()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
