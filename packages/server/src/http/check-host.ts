import { isIP } from 'node:net'
import { Refusal } from '@fairlead/api'
import type { FastifyRequest } from 'fastify'

/**
 * Refuses requests to other names. A web page can point its own name at this machine, and its browser would
 * take us for the page's server; an address or `localhost` is safe. Throws Refusal invalid_request.
 */
export function createHostCheck(names: readonly string[]): (request: Pick<FastifyRequest, 'raw'>) => void {
  const ours = new Set(['localhost', ...names])
  return ({ raw }) => {
    if (raw.url?.startsWith('/') !== true) throw new Refusal('invalid_request', 'the path must begin with /')
    const { host } = raw.headers
    if (host === undefined) return // HTTP/1.0: not used by browsers
    if (countHosts(raw.rawHeaders) > 1) throw new Refusal('invalid_request', 'Host: came more than once')
    if (ours.has(host)) return
    const name = nameOf(host)
    if (ours.has(name) || isIP(name) !== 0) return
    throw new Refusal(
      'invalid_request',
      'Host: is not a name of this server; the operator can add names with FAIRLEAD_HOST_NAMES',
    )
  }
}

/** Removes the port, the brackets of IPv6, and a final dot. */
function nameOf(host: string): string {
  const bare = host.replace(/:\d{1,5}$/, '').toLowerCase()
  return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare.replace(/\.$/, '')
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}
