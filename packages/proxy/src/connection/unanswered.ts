import { createQueue, type Queue } from '@fairlead/engine'
import type { Command } from '../remembered/command.ts'

/** Commands of a link that get no reply. */
export interface Unanswered {
  /** Those that may change the connection, in order. Each counts when the requests that were sent before it are answered: `after`. */
  readonly waiting: Queue<{
    readonly after: number
    readonly command: Command
    readonly keptBytes: number
    readonly costs: number
  }>
  /** How many requests were sent before the last of these commands: an answer to a later request proves that it was executed. */
  lastAfter: number
}

/** Starts empty. */
export function createUnanswered(): Unanswered {
  return { waiting: createQueue(), lastAfter: 0 }
}
