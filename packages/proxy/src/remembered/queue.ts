/** First in, first out. Unlike an array, it does not become slow when it becomes long. */
export interface Queue<T> {
  readonly size: number
  first(): T | undefined
  push(item: T): void
  shift(): T | undefined
}

/** Gone items are dropped from the array when they are this many, and more than half of it. */
const DROP_FROM = 256

export function createQueue<T>(): Queue<T> {
  let items: (T | undefined)[] = []
  let gone = 0
  return {
    get size() {
      return items.length - gone
    },
    first: () => items[gone],
    push: (item) => void items.push(item),
    shift() {
      if (gone === items.length) return undefined
      const item = items[gone]
      items[gone] = undefined
      gone += 1
      if (gone === items.length) {
        items.length = 0
        gone = 0
      } else if (gone > DROP_FROM && gone * 2 > items.length) {
        items = items.slice(gone)
        gone = 0
      }
      return item
    },
  }
}
