import type { Command } from '../remembered/command.ts'
import { isMisformed } from '../remembered/commands.ts'
import type { Connection } from './connection.ts'

const ending: ReadonlySet<string> = new Set(['EXEC', 'DISCARD', 'MULTI', 'WATCH', 'RESET', 'QUIT'])

/**
 * True if the command is queued. A transaction queues every command except those that end it or are refused
 * in it.
 */
export function isQueuedIn({ session: { state } }: Connection, command: Command): boolean {
  return state.transaction !== null && (!ending.has(command.name) || isMisformed(command))
}
