import { ApiError } from '@fairlead/api/lean'
import { CommandFault } from '../output/command-fault.ts'

/** Describes a broken connection for people. Passes known errors on. */
export function tellUnreached(cause: unknown, url: string): Error {
  if (cause instanceof CommandFault || cause instanceof ApiError) return cause
  const {
    message = String(cause),
    name = '',
    ...more
  } = cause as Partial<Error> & { readonly code?: unknown }
  // Codes of Node are texts, those of aborted requests numbers.
  const code = typeof more.code === 'string' ? more.code : ''
  if (/^(CERT_|DEPTH_|SELF_|UNABLE_TO|ERR_TLS_CERT|HOSTNAME)/.test(code))
    return new CommandFault('usage', `the certificate of ${url} is not to be trusted: ${message}`, {
      code,
      cause,
      next: `look at it, and trust it from then on: fairlead login --server ${url}`,
    })
  const why = name === 'TimeoutError' ? 'there was no answer in time (--timeout)' : message
  return new CommandFault('unreached', `${url} does not answer: ${why}`, { code: code || 'unreached', cause })
}
