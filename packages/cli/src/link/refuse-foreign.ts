import { type Answered, ApiError } from '@fairlead/api/lean'
import { CommandFault } from '../output/command-fault.ts'
import type { StreamAnswer } from './http-transport.ts'

/** Code of such a fault: a retry is useless. */
export const FOREIGN = 'foreign_server'

/** Throws CommandFault for a redirect: nothing of this user goes to another place than the named one. */
export function refuseElsewhere<T extends Pick<Answered, 'status'>>(answered: T, url: string): T {
  const { status } = answered
  if (status >= 300 && status < 400) throw foreign(url, `it answers ${status}, which sends elsewhere`)
  return answered
}

/** Also throws CommandFault for an answer of a proxy or of another program. */
export function refuseForeign(answered: Answered, url: string): Answered {
  const { status, text } = refuseElsewhere(answered, url)
  if (status < 400 && (status !== 200 || !/^\s*[[{]/.test(text))) {
    const [line = ''] = text.trim().split('\n')
    throw foreign(url, `it answers ${status}: ${line.slice(0, 100)}`)
  }
  return answered
}

/** The same for the head of a stream: a foreign page would be requested again and again. */
export function refuseNoStream(answered: StreamAnswer, url: string): StreamAnswer {
  const { status, type } = answered
  const isForeign = status < 400 && (status !== 200 || !type.startsWith('text/event-stream'))
  if (!isForeign) return answered
  answered.close()
  refuseElsewhere(answered, url)
  throw foreign(url, `it answers ${status} and ${type || 'nothing'} where a stream was asked for`)
}

function foreign(url: string, why: string): CommandFault {
  return new CommandFault('unreached', `${url} does not answer as Fairlead does: ${why}`, {
    code: FOREIGN,
    next: 'look which address is used, and where it was found: fairlead config list',
  })
}

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
