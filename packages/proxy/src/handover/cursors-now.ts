import type { CursorGenerations } from './cursor-generations.ts'

/** The generation of the cursors that the engine of an upstream gives now. */
export interface CursorsNow {
  readonly generation: number
  /** Clients go to another engine: its cursors get this number. */
  begin(generation: number): void
  /**
   * No process listens at the engine's address: the engine has ended, and the next process there has other cursors. It gets a new number with
   * its first connection.
   */
  hasEnded(): void
}

/** The generation of the engine that serves now; a new number is taken when another engine serves. */
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
