import { useSyncExternalStore } from 'react'

/** How far the clock of the server is ahead of that of this machine, in milliseconds. */
let ahead = 0
let tick = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** Reads the header `Date` of an answer, which has whole seconds. A small difference says nothing. */
export function hearServerTime(date: string | null): void {
  if (date === null) return
  const difference = Date.parse(date) + 500 - Date.now()
  if (Number.isFinite(difference)) ahead = Math.abs(difference) < 2_000 ? 0 : difference
}

/** The time of the server, in unix milliseconds. */
export function serverNow(): number {
  return Date.now() + ahead
}

/** The time of the server, again each second: one timer for all. */
export function useNow(): number {
  return useSyncExternalStore(listen, () => tick + ahead)
}

/** The time of this machine, again each second: for what only this machine has noted. */
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
