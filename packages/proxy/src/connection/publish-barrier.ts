import { type CommandTable, makeCommandTable } from '@fairlead/engine'
import { notedNames } from '../remembered/commands.ts'
import type { ConnectionState } from '../remembered/connection-state.ts'

/**
 * Makes commands that may publish wait while subscribers move, because these would miss the messages. On only
 * for a moment after a switch.
 */
export interface PublishBarrier {
  isOn: boolean
}

/** Scripts and functions may publish; which ones do is unknown. */
const publishing: ReadonlySet<string> = new Set([
  ...['PUBLISH', 'SPUBLISH'],
  ...['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'],
])

/** Commands examined during a publish barrier. At other times they cost nothing. */
export const publishTable: CommandTable = makeCommandTable({
  ...Object.fromEntries([...publishing].map((name) => [name, 0])),
  ...notedNames,
})

/** True if a command queued in a transaction may publish. */
export function isPublishing(name: string): boolean {
  return publishing.has(name)
}

/** True if the connection may receive keyspace notifications: any write may publish those. */
export function hearsOfKeys({ subscribed }: ConnectionState): boolean {
  const { channels, patterns } = subscribed
  return [...channels].some((name) => name.startsWith('__key')) || [...patterns].some(mayMeanKeys)
}

function mayMeanKeys(pattern: string): boolean {
  return /^[_*?[\\]/.test(pattern)
}
