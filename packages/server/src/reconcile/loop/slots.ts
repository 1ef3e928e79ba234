/** Queues by precedence: begun handovers, then work in progress and changes, then the safety net. */
export type Queue = 'handover' | 'action' | 'watch'

const inOrder: readonly Queue[] = ['handover', 'action', 'watch']

/** Slots for work on databases, and waiting databases, each in at most one queue. */
export interface Slots {
  /** Adds the database to this queue; if it waits already, moves it to the queue with precedence. */
  ask(uid: number, queue: Queue): void
  /** Takes a slot for the next database; undefined if none waits or no slot is free. */
  take(): { readonly uid: number; readonly queue: Queue } | undefined
  /** Frees a slot that was taken for this queue. */
  free(queue: Queue): void
  load(): Load
}

/** Number of running databases, and of waiting ones by queue. */
export interface Load {
  readonly running: number
  readonly waiting: Readonly<Record<Queue, number>>
}

/** Creates `atOnce` slots, at most `ofQueue` for each queue. A queue without a limit needs no slot. */
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

/** Returns the queue with precedence. */
export function firstOf(a: Queue | undefined, b: Queue): Queue {
  return a !== undefined && inOrder.indexOf(a) <= inOrder.indexOf(b) ? a : b
}
