import { createQueue } from '@fairlead/engine'

/** Lists whose items are taken later, singly and in order. Adding a list is one step of constant cost. */
export interface Backlog<T> {
  readonly isEmpty: boolean
  /** Adds a list of size `bytes`; drops it above `mostBytes`. */
  add(all: readonly T[], bytes: number): void
  next(): T | undefined
}

/** Creates an empty backlog. `mostBytes`: limit for all its lists. */
export function createBacklog<T>(mostBytes: number): Backlog<T> {
  const lists = createQueue<{ readonly all: readonly T[]; readonly bytes: number }>()
  let waitingBytes = 0
  let taken = 0
  return {
    get isEmpty() {
      return lists.size === 0
    },
    add(all, bytes) {
      if (all.length === 0 || waitingBytes + bytes > mostBytes) return
      lists.push({ all, bytes })
      waitingBytes += bytes
    },
    next() {
      const first = lists.first()
      if (first === undefined) return undefined
      const item = first.all[taken]
      taken += 1
      if (taken >= first.all.length) {
        lists.shift()
        waitingBytes -= first.bytes
        taken = 0
      }
      return item
    },
  }
}
