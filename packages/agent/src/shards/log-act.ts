import { codeOf, messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Next } from './decide-next.ts'

/** A requested end is normal; any other end needs people's attention. */
export function logEnd(log: Logger, last: ProcessRecord | null): void {
  const fields = { ended: last?.ended, crashes: last?.crashes }
  if (last?.ended?.how === 'stopped') log.info(fields, 'shard process ended, as requested')
  else log.warn(fields, 'shard process ended')
}

/** Logs the next action for a shard, with its reason. */
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

/** Returns why a shard cannot be supervised at the moment; for a full disk, also the remedy. */
export function tellTrouble(cause: unknown): string {
  const code = codeOf(cause)
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return messageOf(cause)
  return 'the disk of FAIRLEAD_HOME is full, and its records cannot be written: make room there, and it goes on by itself'
}
