import { createQueue } from '@fairlead/engine'

/** Lists whose items are taken one by one, later, in order. A list is added in one step, however long it is. */
export interface Backlog<T> {
  readonly isEmpty: boolean
  /** A list of so many `bytes`. Beyond `mostBytes` it is dropped. */
  add(all: readonly T[], bytes: number): void
  next(): T | undefined
}

/** An empty one; `mostBytes` of all its lists. */
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
