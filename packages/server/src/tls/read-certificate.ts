import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { createSecureContext } from 'node:tls'
import { Refusal } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import type { TlsTerms } from '../core/identity/tls-terms.ts'
import type { TlsPair } from './tls-store.ts'

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
const CHAIN_AT_MOST = 10
/** The server purpose of RFC 5280, required if a certificate names purposes. */
const SERVER = '1.3.6.1.5.5.7.3.1'

/** Terms and hash of the leaf in a chain that we stored. */
export function readTerms(cert: string): TlsTerms & { readonly fingerprint: string } {
  const { validFromDate, validToDate, subjectAltName = '', fingerprint256 } = new X509Certificate(cert)
  return {
    hosts: subjectAltName.split(', ').flatMap(hostOf),
    fromMs: validFromDate.getTime(),
    toMs: validToDate.getTime(),
    fingerprint: fingerprint256,
  }
}

/** Shortens IPv6 addresses, which OpenSSL prints in full. Ignores other kinds. */
function hostOf(name: string): string | [] {
  const [, kind, host = ''] = /^(DNS|IP Address):(.+)$/.exec(name) ?? []
  if (kind === undefined) return []
  return isIPv6(host) ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host
}

/**
 * Validates an operator's certificate and key, and returns their stored form. Throws Refusal
 * invalid_certificate if clients could not get or accept it, without the key.
 */
export function readOperatorPair({ cert, key }: TlsPair, nowMs: number): TlsPair {
  const chain = readChain(cert)
  const [leaf] = chain
  if (leaf === undefined) throw wrong('certificate: it holds no certificate in PEM')
  const privateKey = readKey(key)
  const unfit = whyUnfit(privateKey)
  if (unfit !== undefined) throw wrong(`key: ${unfit}`)
  if (!leaf.checkPrivateKey(privateKey))
    throw wrong('key: it does not belong to the first certificate; the chain begins with that of the server')
  for (const [n, one] of chain.entries()) checkLink(one, chain[n + 1], n, nowMs)
  const purposes: readonly string[] | undefined = leaf.keyUsage // Node's name of the extended key usage
  if (purposes !== undefined && !purposes.includes(SERVER))
    throw wrong('certificate: it is not for servers; its extended key usage lacks serverAuth')
  const pair = {
    cert: chain.map((one) => one.toString()).join(''),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
  try {
    createSecureContext({ ...pair, minVersion: 'TLSv1.2' })
  } catch (cause) {
    throw wrong(`certificate: it cannot be shown: ${messageOf(cause)}`, cause)
  }
  return pair
}

function readChain(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(block) ?? []
  if (blocks.length > CHAIN_AT_MOST)
    throw wrong(`certificate: a chain has at most ${CHAIN_AT_MOST} certificates, not ${blocks.length}`)
  return blocks.map((text, n) => {
    try {
      return new X509Certificate(text)
    } catch (cause) {
      throw wrong(`certificate: number ${n + 1} of the chain cannot be read: ${messageOf(cause)}`, cause)
    }
  })
}

function readKey(pem: string): KeyObject {
  if (/BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(pem))
    throw wrong('key: it is encrypted; send it without a passphrase, it is sealed when it is kept')
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw wrong('key: it is no private key in PEM', cause)
  }
}

/** Curves that every client supports. */
const curves = ['prime256v1', 'secp384r1', 'secp521r1']
const MOST_RSA_BITS = 4_096

/**
 * Returns why a key is unsuitable: unknown to clients, or too expensive. Handshakes run in the thread that
 * serves all clients; 8,192 bits of RSA take 45 ms.
 */
export function whyUnfit(
  key: Pick<KeyObject, 'asymmetricKeyType' | 'asymmetricKeyDetails'>,
): string | undefined {
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: { modulusLength = 0, namedCurve = '' } = {} } =
    key
  if (type.startsWith('ed')) return undefined
  if (type === 'ec')
    return curves.includes(namedCurve)
      ? undefined
      : `clients of TLS do not know the curve ${namedCurve}; take P-256, P-384 or P-521`
  if (!type.startsWith('rsa'))
    return `TLS has no certificates with a key of ${type}; take ECDSA, Ed25519 or RSA`
  if (modulusLength > MOST_RSA_BITS)
    return `${modulusLength} bits of RSA cost each handshake too much; take at most ${MOST_RSA_BITS}, or ECDSA`
  return undefined
}

/** Throws unless each certificate is valid now and signed by the next. */
function checkLink(one: X509Certificate, next: X509Certificate | undefined, n: number, nowMs: number): void {
  const which = `certificate: number ${n + 1} of the chain (${one.subject.replaceAll('\n', ', ')})`
  if (nowMs >= one.validToDate.getTime()) throw wrong(`${which} expired at ${one.validTo}`)
  if (nowMs < one.validFromDate.getTime()) throw wrong(`${which} is not valid before ${one.validFrom}`)
  if (next === undefined) return
  if (!next.ca || !one.checkIssued(next) || !one.verify(next.publicKey))
    throw wrong(
      `${which} is not signed by the one behind it; order them from the server's to the authority's`,
    )
}

function wrong(message: string, cause?: unknown): Refusal {
  return new Refusal('invalid_certificate', message, { cause })
}
