/** First in, first out. Unlike an array, it stays fast when it is long. */
export interface Queue<T> {
  readonly size: number
  first(): T | undefined
  push(item: T): void
  shift(): T | undefined
}

interface Kept<T> extends Queue<T> {
  items: (T | undefined)[]
  gone: number
}

/** Removed items are dropped from the array when they are this many, and more than half of it. */
const DROP_FROM = 256

/**
 * Shared by all queues. Each connection has two: separate functions took 1.7 KB per idle connection (measured
 * with 3,000, bench/README.md).
 */
const methods: ThisType<Kept<unknown>> & Queue<unknown> = {
  get size() {
    return this.items.length - this.gone
  },
  first() {
    return this.items[this.gone]
  },
  push(item) {
    this.items.push(item)
  },
  shift() {
    const { items, gone } = this
    if (gone === items.length) return undefined
    const item = items[gone]
    items[gone] = undefined
    this.gone += 1
    if (this.gone === items.length) {
      items.length = 0
      this.gone = 0
    } else if (this.gone > DROP_FROM && this.gone * 2 > items.length) {
      this.items = items.slice(this.gone)
      this.gone = 0
    }
    return item
  },
}

/** Creates an empty queue; removing its first item costs the same at any length. */
export function createQueue<T>(): Queue<T> {
  const queue: Kept<T> = Object.create(methods)
  queue.items = []
  queue.gone = 0
  return queue
}
