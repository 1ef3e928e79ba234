import { codeOf, messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Next } from './decide-next.ts'

/** An end that was asked for is one of the usual steps; any other is for people to look at. */
export function logEnd(log: Logger, last: ProcessRecord | null): void {
  const fields = { ended: last?.ended, crashes: last?.crashes }
  if (last?.ended?.how === 'stopped') log.info(fields, 'shard process ended, as requested')
  else log.warn(fields, 'shard process ended')
}

/** Tells what is about to be done for a shard, and why. */
export function logAct(log: Logger, next: Next, last: ProcessRecord | null): void {
  const fields = { why: next.why, pid: last?.identity?.pid }
  switch (next.kind) {
    case 'start':
      log.info({ why: next.why }, 'shard process is started')
      return
    case 'mark-ready':
      log.info({ pid: fields.pid }, 'shard process answers')
      return
    case 'stop':
      log.info(fields, 'shard process is asked to stop')
      return
    case 'kill':
      log.warn(fields, 'shard process is killed')
      return
    case 'delete':
      log.info({ why: next.why }, 'shard is deleted')
      return
    case 'record-exit':
    case 'rest':
  }
}

/** Why a shard cannot be supervised at the moment; if the disk has no room, what to do about it. */
export function tellTrouble(cause: unknown): string {
  const code = codeOf(cause)
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return messageOf(cause)
  return 'the disk of FAIRLEAD_HOME is full, and its records cannot be written: make room there, and it goes on by itself'
}
