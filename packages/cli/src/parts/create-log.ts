import { type Config, currentRequestId } from '@fairlead/server/settings'
import { type Logger, type LoggerOptions, pino } from 'pino'
import { hideSecrets } from './hide-secrets.ts'

/** Logs JSON lines to stderr, because stdout is for answers. Lines of a request or action have its id. */
export function createLog({ logLevel }: Config, part: 'server' | 'agent' | 'up'): Logger {
  return pino(logOptions(logLevel, part), pino.destination({ dest: 2, sync: true }))
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
