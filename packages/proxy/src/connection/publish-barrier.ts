import { type CommandTable, makeCommandTable } from '@fairlead/engine'
import { notedNames } from '../remembered/commands.ts'
import type { ConnectionState } from '../remembered/connection-state.ts'

/**
 * Makes commands that may publish, or that count subscribers, wait while subscribers move: messages would be
 * missed, and counts too low. On only for a moment after a switch.
 */
export interface PublishBarrier {
  isOn: boolean
}

/** Scripts and functions may publish; which ones do is unknown. */
const waiting: ReadonlySet<string> = new Set([
  ...['PUBLISH', 'SPUBLISH', 'PUBSUB'],
  ...['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'],
])

/** Commands examined during a publish barrier. At other times they cost nothing. */
export const publishTable: CommandTable = makeCommandTable({
  ...Object.fromEntries([...waiting].map((name) => [name, 0])),
  ...notedNames,
})

/** True if a command may publish, or counts subscribers. */
export function needsSubscribers(name: string): boolean {
  return waiting.has(name)
}

/** True if the connection may receive keyspace notifications: any write may publish those. */
export function hearsOfKeys({ subscribed }: ConnectionState): boolean {
  const { channels, patterns } = subscribed
  return [...channels].some((name) => name.startsWith('__key')) || [...patterns].some(mayMeanKeys)
}

function mayMeanKeys(pattern: string): boolean {
  return /^[_*?[\\]/.test(pattern)
}
