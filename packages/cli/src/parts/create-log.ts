import { constants, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { agentLog, type Config, currentRequestId, stateFolder } from '@fairlead/server/settings'
import { type Logger, type LoggerOptions, pino } from 'pino'
import { hideSecrets } from './hide-secrets.ts'

/**
 * Logs JSON lines to stderr, because stdout is for answers, and to a file for `fairlead logs`. Lines of a
 * request or action have its id.
 */
export function createLog({ logLevel, home }: Config, part: 'server' | 'agent' | 'up'): Logger {
  const file = part === 'server' ? join(stateFolder(home), 'server.log') : agentLog(home)
  const streams = [pino.destination({ dest: 2, sync: true }), appendTo(file)]
  return pino(
    logOptions(logLevel, part),
    pino.multistream(streams.map((stream) => ({ level: 'trace', stream }))),
  )
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants

/** Loses lines, and nothing else, while the home is not there or the disk is full: stderr has them. */
function appendTo(path: string): { readonly write: (line: string) => void } {
  let file: number | undefined
  return {
    write(line) {
      try {
        file ??= openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
        writeSync(file, line)
      } catch {
        // As above.
      }
    },
  }
}

/** Log options of a part. Secrets are removed by type (hide-secrets.ts). */
export function logOptions(level: Config['logLevel'], part: 'server' | 'agent' | 'up'): LoggerOptions {
  return {
    level,
    base: { part },
    // Errors reach the formatter unchanged.
    serializers: { err: (err: unknown) => err },
    formatters: { log: (line) => hideSecrets(line) as Record<string, unknown> },
    hooks: {
      logMethod(args, method) {
        const [first, ...rest] = args as readonly unknown[]
        // pino would log the message of a bare error unchanged.
        const line =
          first instanceof Error ? [{ err: first }, ...(rest.length > 0 ? rest : [first.message])] : args
        const [fields, ...words] = line as readonly unknown[]
        const shown = typeof fields === 'string' ? hideSecrets(fields) : fields
        method.apply(this, [shown, ...words.map((each) => hideSecrets(each))] as unknown as typeof args)
      },
    },
    mixin: () => {
      const request = currentRequestId()
      return request === undefined ? {} : { request }
    },
  }
}
