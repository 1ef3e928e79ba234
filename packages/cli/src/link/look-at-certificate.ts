import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type ConnectionOptions, connect } from 'node:tls'

/** What a server shows of itself before anything is sent to it. */
export interface Shown {
  /** It is verified, by the system's authorities or by `ca`. */
  readonly isTrusted: boolean
  /** Why it is not; empty when it is. */
  readonly why: string
  /** The last certificate that it shows: the authority, where it shows it. PEM. */
  readonly authority: string
  readonly authorityName: string
  /** SHA-256 of that, as `certificates show --fingerprint` prints it. */
  readonly fingerprint: string
  /** That one has signed itself, so everything below it can be verified with it. */
  readonly isAuthority: boolean
  /** When its own certificate ends. Unix milliseconds. */
  readonly endsMs: number
}

/** Looks at the certificates of a server. Throws what breaks the connection. */
export async function lookAtCertificate(
  url: string,
  ca: string | undefined,
  withinMs: number,
): Promise<Shown> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isName = !/^[\d.]+$|:/.test(host)
  const options: ConnectionOptions = {
    ...{ host, port: Number(port || 443), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
    ...(isName && { servername: host }),
    ...(ca !== undefined && { ca }),
  }
  const socket = connect(options)
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(withinMs) })
    const own = socket.getPeerCertificate(true)
    let last = own
    for (let n = 0; n < 10 && last.issuerCertificate !== undefined && last.issuerCertificate !== last; n += 1)
      last = last.issuerCertificate
    const authority = new X509Certificate(last.raw)
    return {
      isTrusted: socket.authorized,
      why: socket.authorized ? '' : String(socket.authorizationError),
      authority: authority.toString(),
      authorityName:
        authority.subject
          .split('\n')
          .findLast((part) => part.startsWith('CN='))
          ?.slice(3) ?? '',
      fingerprint: showFingerprint(authority.fingerprint256),
      isAuthority: authority.checkIssued(authority),
      endsMs: Date.parse(own.valid_to),
    }
  } finally {
    socket.destroy()
  }
}

/** In the way that all of Fairlead shows fingerprints: small letters, colons. */
export function showFingerprint(fingerprint256: string): string {
  return fingerprint256.toLowerCase()
}
