/** Whose turn comes first: a handover that has begun; then what is in progress, or has changed; then the safety net. */
export type Queue = 'handover' | 'action' | 'watch'

const inOrder: readonly Queue[] = ['handover', 'action', 'watch']

/** Places for work on databases, and those that wait for one. A database waits in one queue at most. */
export interface Slots {
  /** The database waits in this queue; if it waits already, it moves to the queue that has precedence. */
  ask(uid: number, queue: Queue): void
  /** Takes a place for the next database; undefined: no database waits, or no place is free. */
  take(): { readonly uid: number; readonly queue: Queue } | undefined
  /** Frees a place that was taken for this queue. */
  free(queue: Queue): void
  load(): Load
}

/** How many databases work, and how many wait in each queue. */
export interface Load {
  readonly running: number
  readonly waiting: Readonly<Record<Queue, number>>
}

/** `atOnce` places in all, at most `ofQueue` of them for each queue. A queue without a bound needs no place. */
export function createSlots(atOnce: number, ofQueue: Readonly<Record<Queue, number>>): Slots {
  const waiting: Record<Queue, Set<number>> = { handover: new Set(), action: new Set(), watch: new Set() }
  const taken: Record<Queue, number> = { handover: 0, action: 0, watch: 0 }
  const mayBegin = (queue: Queue) => {
    if (!Number.isFinite(ofQueue[queue])) return true
    return taken[queue] < ofQueue[queue] && taken.handover + taken.action + taken.watch < atOnce
  }
  return {
    ask(uid, queue) {
      const known = inOrder.find((each) => waiting[each].has(uid))
      if (known !== undefined && firstOf(known, queue) === known) return
      if (known !== undefined) waiting[known].delete(uid)
      waiting[queue].add(uid)
    },
    take() {
      for (const queue of inOrder) {
        const [uid] = waiting[queue]
        if (uid === undefined || !mayBegin(queue)) continue
        waiting[queue].delete(uid)
        taken[queue] += 1
        return { uid, queue }
      }
      return undefined
    },
    free(queue) {
      taken[queue] -= 1
    },
    load() {
      const { handover, action, watch } = waiting
      return {
        running: taken.handover + taken.action + taken.watch,
        waiting: { handover: handover.size, action: action.size, watch: watch.size },
      }
    },
  }
}

/** Of two queues the one that has precedence. */
export function firstOf(a: Queue | undefined, b: Queue): Queue {
  return a !== undefined && inOrder.indexOf(a) <= inOrder.indexOf(b) ? a : b
}
