import type { CursorGenerations } from './cursor-generations.ts'

/** Generation of the cursors that an upstream's engine gives now. */
export interface CursorsNow {
  readonly generation: number
  /** Begins the generation of another engine. */
  begin(generation: number): void
  /** Notes that no process listens at the engine's address: the next process gets a new number. */
  hasEnded(): void
}

/** Creates the generation of the present engine. */
export function createCursorsNow(generations: CursorGenerations): CursorsNow {
  let generation = generations.take()
  let isOver = false
  return {
    get generation() {
      if (isOver) generation = generations.take()
      isOver = false
      return generation
    },
    begin(next) {
      generation = next
      isOver = false
    },
    hasEnded() {
      isOver = true
    },
  }
}
