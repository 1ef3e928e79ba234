/** Address of a PostgreSQL database, and the user to sign in as. */
export interface PostgresAddress {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  /** Null: no TLS, only on this machine. `rootCertificate`: a PEM file; null: the system's authorities. */
  readonly tls: { readonly rootCertificate: string | null } | null
}

const form = '`postgres://user@host:5432/database`'
const known = new Set(['sslmode', 'sslrootcert', 'host'])

/**
 * Reads
 * `postgres://user@host[:port]/database[?sslmode=verify-full|disable][&sslrootcert=FILE][&host=/FOLDER]`
 * (libpq's words). TLS with a checked certificate is the default; `disable` is allowed only for loopback and
 * Unix sockets, and is their default. Any fault ends in `fault`.
 */
export function readPostgresAddress(text: string, fault: (sentence: string) => never): PostgresAddress {
  const url = URL.parse(text)
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol))
    return fault(`must be like ${form}`)
  if (url.password !== '')
    return fault(
      'must not have a password, which other programs would see: put it into FAIRLEAD_STORE_PASSWORD_FILE',
    )
  const query = new Map(url.searchParams)
  const unknown = [...query.keys()].find((name) => !known.has(name))
  if (unknown !== undefined)
    return fault(`has \`${unknown}\`, which we do not know; known are ${[...known].join(', ')}`)
  if (query.size !== url.searchParams.size || url.hash !== '')
    return fault('has a setting twice, or a `#`: only one of them would count')
  const [user, database, named] = [url.username, url.pathname.slice(1), url.hostname].map(decode)
  const folder = query.get('host')
  if (folder !== undefined && !folder.startsWith('/'))
    return fault('has `host`, which must be the folder of a Unix socket, like /var/run/postgresql')
  const host = folder ?? named?.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? 5432 : Number(url.port)
  if (!host || !user || !database || database.includes('/') || port === 0)
    return fault(`must be like ${form}`)
  const place = { host, port, database, user }
  const isHere = host.startsWith('/') || isLoopback(host)
  const mode = query.get('sslmode') ?? (isHere ? 'disable' : 'verify-full')
  if (mode === 'verify-full') {
    if (host.startsWith('/')) return fault('has sslmode=verify-full, but there is no TLS on a Unix socket')
    return { ...place, tls: { rootCertificate: query.get('sslrootcert') ?? null } }
  }
  if (mode !== 'disable')
    return fault('must have sslmode=verify-full: other modes do not know to which server they speak')
  if (!isHere)
    return fault(
      `has sslmode=disable, but ${host} is not this machine: passwords of databases would cross the network`,
    )
  if (query.has('sslrootcert'))
    return fault('has `sslrootcert`, but speaks no TLS: set sslmode=verify-full, or leave it out')
  return { ...place, tls: null }
}

/** Undefined if undecodable or with control characters: PostgreSQL ends a name at NUL, and reads on. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    return /\p{Cc}/u.test(decoded) ? undefined : decoded
  } catch {
    return undefined
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
