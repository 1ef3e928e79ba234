import { expect, test } from 'vitest'
import { whyUnfit } from './read-certificate.ts'

test.each([
  ['rsa', { modulusLength: 4_096 }, undefined],
  [
    'rsa',
    { modulusLength: 8_192 },
    '8192 bits of RSA cost each handshake too much; take at most 4096, or ECDSA',
  ],
  [
    'rsa-pss',
    { modulusLength: 16_384 },
    '16384 bits of RSA cost each handshake too much; take at most 4096, or ECDSA',
  ],
  ['dsa', { modulusLength: 2_048 }, 'TLS has no certificates with a key of dsa; take ECDSA, Ed25519 or RSA'],
  ['ec', { namedCurve: 'secp384r1' }, undefined],
  ['ed25519', {}, undefined],
] as const)(
  'a key of %s, %o, is judged by what its handshakes cost and by the clients that know it',
  (type, details, why) => {
    expect(whyUnfit({ asymmetricKeyType: type, asymmetricKeyDetails: details })).toBe(why)
  },
)
