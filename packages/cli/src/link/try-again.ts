import { setTimeout as pause } from 'node:timers/promises'
import type { Answered, Transport } from '@fairlead/api/lean'

/** Three tries, within five seconds together. */
const PAUSES_MS = [250, 1_000] as const
const LONGEST_PAUSE_MS = 3_000

/** What is only read is asked for again when the connection broke, and when the server cannot answer just now. What changes something is sent once. */
export function tryAgain(transport: Transport): Transport {
  return async (request) => {
    if (request.method !== 'GET') return transport(request)
    for (const pauseMs of PAUSES_MS) {
      const answered = await transport(request).catch((cause: unknown) => {
        if (request.signal?.aborted === true || isLasting(cause)) throw cause
        return undefined
      })
      if (answered !== undefined && !isPassing(answered)) return answered
      const asked = answered?.retryAfterSeconds
      const waitMs = Math.min(asked === undefined ? pauseMs : Math.max(0, asked * 1_000), LONGEST_PAUSE_MS)
      await pause(waitMs, undefined, request.signal && { signal: request.signal })
    }
    return transport(request)
  }
}

function isPassing({ status, text }: Answered): boolean {
  if (status === 429 || status === 502 || status === 504) return true
  // The availability of a database is answered with 503, too: that is the answer.
  return status === 503 && !text.includes('"error_code":"bdb_')
}

/** Nothing listens there, or the certificate is a wrong one: that is so in a second, too. Or there was no answer in the time that an answer may take. */
function isLasting(cause: unknown): boolean {
  const { code = '', name = '' } = cause as { readonly code?: string; readonly name?: string }
  if (name === 'TimeoutError') return true
  return /^(ECONNREFUSED|ENOENT|EACCES|ENOTFOUND|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_|ERR_SSL|HOSTNAME)/.test(
    code,
  )
}
