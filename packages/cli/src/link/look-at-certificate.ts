import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type ConnectionOptions, connect } from 'node:tls'

/** A server's certificates, before anything is sent to it. */
export interface Shown {
  /** Verified by the system's authorities or by `ca`. */
  readonly isTrusted: boolean
  /** The fault; empty if trusted. */
  readonly why: string
  /** The last shown certificate, possibly the authority. PEM. */
  readonly authority: string
  readonly authorityName: string
  /** SHA-256 of that certificate, as printed by `certificates show --fingerprint`. */
  readonly fingerprint: string
  /** It is self-signed, so everything below can be verified with it. */
  readonly isAuthority: boolean
  /** End of the server's own certificate. Unix milliseconds. */
  readonly endsMs: number
}

/** Reads the certificates of a server. Throws the connection's error. */
export async function lookAtCertificate(
  url: string,
  ca: string | undefined,
  withinMs: number,
): Promise<Shown> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isName = !/^[\d.]+$|:/.test(host)
  const options: ConnectionOptions = {
    host,
    port: Number(port || 443),
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
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

/** Formats a fingerprint like all of Fairlead: lower case, colons. */
export function showFingerprint(fingerprint256: string): string {
  return fingerprint256.toLowerCase()
}
