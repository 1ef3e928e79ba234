import { type CommandTable, makeCommandTable } from '@fairlead/engine'
import { notedNames } from '../remembered/commands.ts'
import type { ConnectionState } from '../remembered/connection-state.ts'

/**
 * While subscribers move, commands that may publish wait, because subscribers would miss their messages. All others go on. Off except for the moments after
 * a switch.
 */
export interface PublishBarrier {
  isOn: boolean
}

/** Scripts and functions may publish, too; which ones do is not known. */
const publishing: ReadonlySet<string> = new Set([
  ...['PUBLISH', 'SPUBLISH'],
  ...['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'],
])

/** The commands that are examined during a publish barrier; at other times they cost nothing. */
export const publishTable: CommandTable = makeCommandTable({
  ...Object.fromEntries([...publishing].map((name) => [name, 0])),
  ...notedNames,
})

/** The same for a command that is being queued in a transaction. */
export function isPublishing(name: string): boolean {
  return publishing.has(name)
}

/** Among its channels may be those on which an engine announces changes of keys: any write may publish there. */
export function hearsOfKeys({ subscribed }: ConnectionState): boolean {
  const { channels, patterns } = subscribed
  return [...channels].some((name) => name.startsWith('__key')) || [...patterns].some(mayMeanKeys)
}

function mayMeanKeys(pattern: string): boolean {
  return /^[_*?[\\]/.test(pattern)
}
