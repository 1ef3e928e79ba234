import type { StoredEvent } from '../stores/events-store.ts'

/** The newest events by rising places. */
export interface EventRing {
  add(event: StoredEvent): void
  /** The place of the oldest event; of the next one if empty. */
  first(): number
  at(place: number): StoredEvent | undefined
  clear(): void
}

/** Limits the number and the total characters of events. Always keeps the newest. */
export function createEventRing(most: { readonly events: number; readonly characters: number }): EventRing {
  const kept = new Map<number, StoredEvent>()
  let [first, next, characters] = [0, 0, 0]
  const drop = () => {
    characters -= kept.get(first)?.size ?? 0
    kept.delete(first)
    first += 1
  }
  return {
    add(event) {
      kept.set(next, event)
      next += 1
      characters += event.size
      while (kept.size > most.events || (kept.size > 1 && characters > most.characters)) drop()
    },
    first: () => first,
    at: (place) => kept.get(place),
    clear() {
      while (first < next) drop()
    },
  }
}
