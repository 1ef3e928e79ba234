import { createQueue, type Queue } from '@fairlead/engine'
import type { Command } from '../remembered/command.ts'

/** Commands of a link that get no reply. */
export interface Unanswered {
  /**
   * Commands that may change the connection, in order. Each counts as executed when requests up to number
   * `after` are answered.
   */
  readonly waiting: Queue<{
    readonly after: number
    readonly command: Command
    readonly keptBytes: number
    readonly costs: number
  }>
  /**
   * Number of requests sent before the last of these commands: an answer to a later request proves its
   * execution.
   */
  lastAfter: number
}

/** Starts empty. */
export function createUnanswered(): Unanswered {
  return { waiting: createQueue(), lastAfter: 0 }
}
