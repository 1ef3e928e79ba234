import { setTimeout as pause } from 'node:timers/promises'
import type { Answered, Transport } from '@fairlead/api/lean'

/** Three attempts, within five seconds together. */
const PAUSES_MS = [250, 1_000] as const
const LONGEST_PAUSE_MS = 3_000

/** Retries reads after a broken connection or a temporary refusal. Changes are sent once. */
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
  // The availability of a database uses 503 as an answer.
  return status === 503 && !text.includes('"error_code":"bdb_')
}

/** Lasting faults: nothing listens, or the certificate is wrong. A timeout has already waited long enough. */
function isLasting(cause: unknown): boolean {
  const { code = '', name = '' } = cause as { readonly code?: string; readonly name?: string }
  if (name === 'TimeoutError') return true
  return /^(ECONNREFUSED|ENOENT|EACCES|ENOTFOUND|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_|ERR_SSL|HOSTNAME)/.test(
    code,
  )
}
