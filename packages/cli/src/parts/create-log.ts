import type { Config } from '@fairlead/server'
import { type Logger, pino } from 'pino'

/** Logs as JSON lines on stderr: stdout is for answers. */
export function createLog({ logLevel }: Config, part: 'server' | 'agent' | 'up'): Logger {
  return pino(
    { level: logLevel, base: { part }, redact: ['*.password', '*.adminPassword', '*.userPassword'] },
    pino.destination({ dest: 2, sync: true }),
  )
}
