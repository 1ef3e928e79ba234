import { isIP, isIPv6 } from 'node:net'

type Fault = (sentence: string) => never

const LOOPBACK = '127.0.0.1'
/** A DNS name in lower case, with or without dots. */
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** Returns whether a certificate can name this host and requests can reach it. */
export function isHostName(text: string): boolean {
  return NAME.test(text) && !/^[\d.]+$/.test(text)
}

/** Names in lower case, without empty ones. */
export function readHostNames(text: string | undefined, fault: Fault): readonly string[] {
  const names = listOf(text)
  return names.every((name) => NAME.test(name))
    ? names
    : fault('must be names without ports, as in a.example.org,b')
}

/** Names and addresses in their form in certificates. */
export function readHosts(text: string | undefined, fault: Fault): readonly string[] {
  const hosts = listOf(text)
  return hosts.every((host) => isHostName(host) || isPlainIp(host))
    ? [...new Set(hosts.map(plainHost))]
    : fault('must be names and addresses without ports, as in fairlead.example.org,10.1.2.3')
}

/** An address to listen on. */
export function readAddress(text: string | undefined, fault: Fault): string {
  if (text === undefined) return LOOPBACK
  return isPlainIp(text) ? plainHost(text) : fault('must be an address, as in 0.0.0.0 or 10.1.2.3')
}

/**
 * Addresses to listen on besides 127.0.0.1. `::` includes IPv4, and an address for all of a kind replaces
 * the others of its kind.
 */
export function readFurtherAddresses(text: string | undefined, fault: Fault): readonly string[] {
  const listed = listOf(text)
  if (!listed.every(isPlainIp))
    return fault(
      'must be addresses of this machine without ports, separated by commas, as in 10.1.2.3,fd00::2, or 0.0.0.0 or :: for all',
    )
  const all = new Set(listed.map(plainHost))
  if (all.has('::')) all.add('0.0.0.0')
  const isCovered = (address: string) => all.has(isIPv6(address) ? '::' : '0.0.0.0')
  return [...all].filter(
    (address) => isEveryAddress(address) || !(isCovered(address) || address === LOOPBACK),
  )
}

/** The end of names, without a dot before it; null: none. No client of TLS accepts `*.localhost`. */
export function readSuffix(text: string | undefined, fault: Fault): string | null {
  if (text === undefined) return null
  const suffix = text.toLowerCase()
  return isHostName(suffix) && suffix.includes('.')
    ? suffix
    : fault('must be a name of two words or more, without a dot before it, as in db.example.net')
}

/** A loopback address, since plain HTTP must not leave the machine. */
export function readPlainAddress(text: string | undefined, fault: Fault): string {
  const address = readAddress(text, fault)
  if (address === '::1' || address.startsWith('127.')) return address
  return fault(
    'must be an address of loopback, 127.0.0.1 or ::1: over plain HTTP every machine on the way could read passwords and tokens; for other machines set FAIRLEAD_HTTPS_ADDRESS, and FAIRLEAD_HTTPS_NAMES to the names that they use (port: FAIRLEAD_HTTPS_PORT)',
  )
}

/** Returns whether the address means all addresses of the machine. */
export function isEveryAddress(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function listOf(text = ''): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
}

/** Without an interface name, which certificates never have. */
function isPlainIp(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

/** IPv6 in its shortest form, like in certificates. */
function plainHost(host: string): string {
  return isIPv6(host) ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host
}

/** Names and addresses by which clients call this server over HTTPS. */
export function apiHosts(
  { httpsAddress, httpsNames }: { readonly httpsAddress: string; readonly httpsNames: readonly string[] },
  machine: string,
): readonly string[] {
  const own = machine.toLowerCase()
  return [
    ...new Set([
      ...['localhost', '127.0.0.1', '::1'],
      ...(isHostName(own) ? [own] : []),
      ...(isEveryAddress(httpsAddress) ? [] : [httpsAddress]),
      ...httpsNames,
    ]),
  ]
}
