import { isEveryAddress } from './config-hosts.ts'
import type { Values } from './config-variables.ts'

/** A sentence for each port that two variables name at conflicting addresses. `0` means any port, or none. */
export function samePorts(values: Values): string[] {
  const { httpPort, httpAddress, httpsPort, httpsAddress, sentinelPort } = values
  const places = [
    { name: 'FAIRLEAD_HTTP_PORT', port: httpPort, host: httpAddress },
    { name: 'FAIRLEAD_HTTPS_PORT', port: httpsPort, host: httpsAddress },
    { name: 'FAIRLEAD_SENTINEL_PORT', port: sentinelPort, host: '127.0.0.1' },
  ].filter(({ port }) => port !== 0)
  return places.flatMap(({ name, port, host }, n) =>
    places
      .slice(n + 1)
      .filter((other) => other.port === port)
      .filter((other) => other.host === host || isEveryAddress(host) || isEveryAddress(other.host))
      .map((other) => `${other.name} must be another port than ${name} (both are ${port})`),
  )
}
