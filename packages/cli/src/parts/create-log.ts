import { type Config, currentRequestId } from '@fairlead/server'
import { type Logger, pino } from 'pino'

/** Logs as JSON lines on stderr: stdout is for answers. Lines that belong to a request or an action name its id. */
export function createLog({ logLevel }: Config, part: 'server' | 'agent' | 'up'): Logger {
  return pino(
    {
      level: logLevel,
      base: { part },
      redact: ['*.password', '*.adminPassword', '*.userPassword'],
      mixin: () => {
        const request = currentRequestId()
        return request === undefined ? {} : { request }
      },
    },
    pino.destination({ dest: 2, sync: true }),
  )
}
