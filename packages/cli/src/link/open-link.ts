import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Answered,
  type Client,
  createClient,
  leanOperations,
  type StreamTransport,
  type Transport,
} from '@fairlead/api/lean'
import { CommandFault } from '../output/command-fault.ts'
import { LOCAL, type Target } from '../profiles/find-target.ts'
import type { ProfileFiles } from '../profiles/profile-files.ts'
import { type HoldToken, holdProfileToken } from './hold-token.ts'
import type { Place } from './http-transport.ts'
import { httpStreamTransport, httpTransport } from './http-transport.ts'
import { refuseElsewhere, refuseForeign, refuseNoStream, tellUnreached } from './refuse-foreign.ts'

/** A server, with its API's operations as functions. */
export interface Link {
  readonly api: Client<typeof leanOperations>
  /** Sends a request outside of the operations. Throws CommandFault if the connection breaks. */
  readonly send: Transport
  readonly url: string
  /** Since when streams are not answered, Unix milliseconds; undefined: they are. */
  readonly awaySinceMs: () => number | undefined
  /** Names the server in questions. */
  readonly place: string
  /** The user's name, if known. */
  readonly as: string | undefined
  /** Every change asks for the profile's name. */
  readonly isProtected: boolean
  /** The home of this machine's server; undefined: reached by address. */
  readonly home: string | undefined
}

/** Opens `target`. Throws CommandFault if no server answers on this machine, or a file cannot be read. */
export async function openLink(
  target: Target,
  {
    files,
    env,
    withinMs,
  }: { readonly files: ProfileFiles; readonly env: NodeJS.ProcessEnv; readonly withinMs: number },
): Promise<Link> {
  const { server, settings, profile } = target
  if (server === undefined) {
    refuseHere(target)
    const { findLocalServer } = await import('./hold-operator-token.ts')
    const { url, home, holdToken } = await findLocalServer(env, withinMs)
    const client = clientOf({ url }, { withinMs, holdToken })
    return {
      ...client,
      url,
      home,
      place: `this machine (${home})`,
      as: 'operator',
      isProtected: false,
    }
  }
  const place = { url: server.value, ca: authorityOf(target) }
  return {
    ...clientOf(place, { withinMs, holdToken: holdTokenOf(target, place, { files, env, withinMs }) }),
    url: server.value,
    home: undefined,
    as: target.login?.username,
    place: server.from === 'profile' ? `profile ${profile.value} (${server.value})` : server.value,
    // If edited by hand, it may be a text.
    isProtected: (settings.protected ?? false) !== false,
  }
}

/** Refuses the all-powerful socket of the operator for a profile or token that is meant for a server. */
function refuseHere({ profile, token }: Target): void {
  if (profile.value !== LOCAL)
    throw new CommandFault('usage', `profile ${profile.value} names no server`, {
      next: `say which: fairlead config set server URL --profile ${profile.value}`,
    })
  if (token !== undefined)
    throw new CommandFault('usage', 'FAIRLEAD_TOKEN is set, and no server is named that it is for', {
      next: 'say which: --server URL, or FAIRLEAD_SERVER. As the operator of this machine: unset FAIRLEAD_TOKEN',
    })
}

/** The certificates to verify the server with; undefined: those of the system. */
export function authorityOf({ caFile, settings }: Pick<Target, 'caFile' | 'settings'>): string | undefined {
  if (caFile === undefined) return settings.ca
  try {
    return readFileSync(caFile.value, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFault('usage', `the certificates cannot be read: ${why}`)
  }
}

/** The operations at this place, and since when its streams fail. Broken connections throw CommandFault. */
export function clientOf(
  place: Extract<Place, { readonly url: string }>,
  { withinMs, holdToken }: { readonly withinMs: number; readonly holdToken: HoldToken },
): Pick<Link, 'api' | 'send' | 'awaySinceMs'> {
  const withToken = async (headers: Readonly<Record<string, string>>) => {
    const token = await holdToken()
    return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }
  }
  const plain = tryAgain(httpTransport(place, withinMs))
  const transport: Transport = async (request) => {
    const headers = await withToken(request.headers)
    const answered = await plain({ ...request, headers }).catch((cause: unknown) => {
      throw tellUnreached(cause, place.url)
    })
    return refuseElsewhere(answered, place.url)
  }
  const ask: Transport = async (request) => refuseForeign(await transport(request), place.url)
  const streams = httpStreamTransport(place)
  let awaySinceMs: number | undefined
  const stream: StreamTransport = async (request) => {
    const headers = await withToken(request.headers)
    try {
      const answered = refuseNoStream(await streams({ ...request, headers }), place.url)
      awaySinceMs = undefined
      return answered
    } catch (cause) {
      awaySinceMs ??= Date.now()
      throw tellUnreached(cause, place.url)
    }
  }
  return {
    api: createClient(leanOperations, ask, undefined, stream),
    send: transport,
    awaySinceMs: () => awaySinceMs,
  }
}

function holdTokenOf(
  { token, login, profile }: Target,
  place: Extract<Place, { readonly url: string }>,
  {
    files,
    env,
    withinMs,
  }: { readonly files: ProfileFiles; readonly env: NodeJS.ProcessEnv; readonly withinMs: number },
): HoldToken {
  if (token !== undefined) return async () => token.value
  if (login !== undefined)
    return holdProfileToken(
      { profile: profile.value, files, transport: httpTransport(place, withinMs) },
      login,
    )
  return async () => {
    await mustListen(place, withinMs)
    const { hasLocalServer } = await import('./hold-operator-token.ts')
    const local = hasLocalServer(env) ? `; or as the operator of this machine: --profile ${LOCAL}` : ''
    const named = profile.value === LOCAL ? '' : ` --profile ${profile.value}`
    throw new CommandFault('signed_out', `not signed in to ${place.url}`, {
      code: 'unauthorized',
      next: `fairlead login${named} --server ${place.url}${local}`,
    })
  }
}

/** Throws CommandFault if nothing listens there: a login would not help. */
async function mustListen(place: Extract<Place, { readonly url: string }>, withinMs: number): Promise<void> {
  try {
    await httpTransport(place, withinMs)({ method: 'GET', path: '/healthz', headers: {} })
  } catch (cause) {
    const { code = '' } = cause as { readonly code?: string }
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') throw tellUnreached(cause, place.url)
  }
}

/** Three attempts, within five seconds together. */
const PAUSES_MS = [250, 1_000] as const
const LONGEST_PAUSE_MS = 3_000

/** Retries reads after a broken connection or a temporary refusal. Changes are sent once. */
function tryAgain(transport: Transport): Transport {
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
