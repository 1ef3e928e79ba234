import { constants } from 'node:crypto'

/** Only AEAD ciphers with forward secrecy, in Node's order. TLS 1.3 has no others. */
const ciphers = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':')

/**
 * Returns the TLS versions and ciphers for clients, at endpoints and at the API, as options of a secure
 * context of Node with this certificate (`cert`, a chain, and its `key`, PEM). The version is explicit, so
 * that no flag of Node lowers it. Renegotiation (TLS 1.2) is refused: it would wait for no turn, and no
 * client needs it.
 */
export function tlsForClients({ cert, key }: { readonly cert: string; readonly key: string }) {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ciphers,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const
}
