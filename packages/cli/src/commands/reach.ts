import type { Database } from '@fairlead/api'

/** Returns "host:port" of the first place of a database, with brackets for IPv6; empty without one. */
export function placeOf({ endpoints: [first] }: Pick<Database, 'endpoints'>): string {
  if (first === undefined) return ''
  const { dns_name: name, port } = first
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`
}

/** True if clients of other machines reach the database, and have no TLS. */
export function isOpenWithoutTls({ endpoints, tls_mode }: Pick<Database, 'endpoints' | 'tls_mode'>): boolean {
  return tls_mode === 'disabled' && endpoints.some(({ addr_type }) => addr_type === 'external')
}

/** Explains what such a database reveals. */
export const OPEN_WITHOUT_TLS =
  'clients on other machines send the password and all data in plain text; --tls prevents it, at the creation only'
