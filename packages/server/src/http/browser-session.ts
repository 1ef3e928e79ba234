import { Refusal, requestHeader, sessionCookies } from '@fairlead/api'
import type { FastifyReply, FastifyRequest } from 'fastify'

type Sent = Pick<FastifyRequest, 'headers' | 'method' | 'socket'>

/**
 * Returns the Authorization header, or an equivalent for a browser session's cookie. Pages of other origins
 * also send cookies: there it is ignored, and for changes throws Refusal foreign_page.
 */
export function credentialsOf(request: Sent): string | undefined {
  const { authorization } = request.headers
  if (authorization !== undefined) return authorization
  const secret = readCookie(request)
  if (secret === undefined) return undefined
  if (request.method !== 'GET' && request.method !== 'HEAD') refuseForeignPage(request)
  else if (isForeign(request)) return undefined
  return `Session ${secret}`
}

/** Throws Refusal foreign_page unless the browser confirms a page of ours, which sent our header. */
export function refuseForeignPage(request: Sent): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  const isTold = origin !== undefined || site !== undefined
  if (!isTold || isForeign(request))
    throw new Refusal('foreign_page', 'Origin: the request does not come from a page of this server')
  if (request.headers[requestHeader.name] !== requestHeader.value)
    throw new Refusal(
      'foreign_page',
      'Fairlead-Request: 1 is missing; pages send this header with each change',
    )
}

/** Sets the cookie, or removes it (null). */
export function setCookie(request: Sent, reply: Pick<FastifyReply, 'header'>, secret: string | null): void {
  // A proxy in front may terminate TLS.
  const isSecure = isEncrypted(request) || request.headers.origin?.startsWith('https:') === true
  const name = isSecure ? sessionCookies.overTls : sessionCookies.plain
  const flags = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  void reply.header('set-cookie', `${name}=${secret ?? ''}; ${flags}${secret === null ? '; Max-Age=0' : ''}`)
}

/** Over TLS, only the name that TLS alone can set counts. */
function readCookie(request: Sent): string | undefined {
  const { cookie } = request.headers
  if (cookie === undefined) return undefined
  const { overTls, plain } = sessionCookies
  const pairs = new Map(cookie.split(';').map((pair) => splitPair(pair.trim())))
  const secret = pairs.get(overTls) ?? (isEncrypted(request) ? undefined : pairs.get(plain))
  return secret !== undefined && /^[\w-]{43}$/.test(secret) ? secret : undefined
}

function splitPair(pair: string): readonly [name: string, value: string] {
  const at = pair.indexOf('=')
  return at < 0 ? ['', pair] : [pair.slice(0, at), pair.slice(at + 1)]
}

/** Judges by the browser's headers; older browsers send them only with changes. `none`: a typed address. */
function isForeign(request: Sent): boolean {
  const { origin, host, 'sec-fetch-site': site } = request.headers
  const isSafe = request.method === 'GET' || request.method === 'HEAD'
  if (site !== undefined && site !== 'same-origin' && !(isSafe && site === 'none')) return true
  return origin !== undefined && !isOwnOrigin(origin, host, isEncrypted(request))
}

/** Same name and port. A page over TLS may use a connection without it (a proxy in front), not vice versa. */
function isOwnOrigin(origin: string, host: string | undefined, encrypted: boolean): boolean {
  if (host === undefined || !URL.canParse(origin)) return false
  const page = new URL(origin)
  if (page.protocol !== 'https:' && (encrypted || page.protocol !== 'http:')) return false
  const own = `${page.protocol}//${host}`
  return URL.canParse(own) && new URL(own).host === page.host
}

function isEncrypted({ socket }: Sent): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}
